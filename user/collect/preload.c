/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "collect/preload.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/preload.h"
#include "attach/launch.h"
#include "attach/launch_env.h"
#include "attach/proc.h"
#include "base/log.h"
#include "base/map.h"
#include "base/memory_file.h"
#include "base/own_file.h"
#include "base/person.h"
#include "base/run_socket.h"
#include "collect/cycle_rate.h"
#include "collect/kernel.h"
#include "collect/preload_area.h"
#include "layer/func_table.h"

#define LIBRARY "libpovtrace-preload.so" /* beside this program, or where it is installed */
#define SOCKET_DIR "/run/povtrace"
#define SOCKET_BEGIN "preload."
#define ASKING_MAX (PRELOAD_POLLED - 1)
#define BACKLOG 256
#define FULL_SHARE 4 /* a ring that is fuller than this part of it is looked at again soon */

/* Who says nothing for so long has no more room in the queue. Anyone may connect. */
#define SILENT_NS 2000000000ull
#define SILENT_STRANGER_NS 20000000ull

/* A connection: of a thread that is being given an area, if any. */
struct asking {
	int conn;
	uint64_t since_ns;
	struct thread_area *area; /* owned until it is ready */
};

struct preload {
	struct preload_options opt;
	char *path; /* of the socket */
	int fd, setup_fd;
	struct pov_preload_setup *setup;
	uint64_t setup_bytes;
	struct cycle_rate cycle_rate;
	uint32_t first_row, rows;
	bool *wanted;
	struct asking asking[ASKING_MAX];
	unsigned int asking_cnt;
	struct thread_area **area; /* ready ones */
	uint32_t area_cnt, area_cap;
	uint32_t threads, damaged;
	struct map bypassed;	    /* processes whose calls may come past what is preloaded */
	struct preload_counts gone; /* of areas that are no more */
};

/* ---- the library ---- */

static bool is_readable(const char *path, const struct person *as)
{
	struct person_act act;
	bool readable;

	if (person_act_begin(as, &act))
		return false;
	readable = !faccessat(AT_FDCWD, path, R_OK, AT_EACCESS);
	person_act_end(&act);
	return readable;
}

/* 0, or -errno if no socket can be made where processes look for it. */
static int socket_place_try(void)
{
	struct sockaddr_un at;
	int err = run_socket_place(SOCKET_DIR "/" SOCKET_BEGIN, &at);

	return err ? err : access(SOCKET_DIR, W_OK | X_OK) ? -errno : 0;
}

char *preload_library_find(const struct launch_plan *plan, char **problem)
{
	char *found = own_file_find(LIBRARY), *path = found ? realpath(found, NULL) : NULL;
	int err;

	free(found);
	*problem = NULL;
	if (!path)
		*problem = xasprintf(LIBRARY " is not installed beside povtrace");
	else if (!is_readable(path, plan->as))
		*problem = xasprintf("%s may not read %s; install povtrace where all can read it",
				     plan->as ? plan->as->name : "root", path);
	else if (path[strcspn(path, " :")]) /* where ld.so separates names */
		*problem = xasprintf("LD_PRELOAD cannot name \"%s\"; install povtrace in a folder "
				     "without blanks and colons",
				     path);
	else if ((err = socket_place_try()))
		*problem = xasprintf("processes cannot reach the recorder: " SOCKET_DIR ": %s",
				     strerror(-err));
	else if ((err = thread_area_try()))
		*problem = xasprintf("memory for records cannot be made: %s", log_unwritten(-err));
	if (!*problem)
		return path;
	free(path);
	return NULL;
}

/* ---- the setup ---- */

/* The rows of the layer that the library has shims of. */
static void rows_find(struct preload *p)
{
	while (!func_table_layer(p->first_row)->is_top)
		p->first_row++;
	while (p->first_row + p->rows < func_table_count() &&
	       func_table_layer(p->first_row + p->rows)->is_top)
		p->rows++;
}

/* Only we may ever write to it: our mapping is older than the seal. */
static int setup_make(struct preload *p)
{
	p->setup_bytes = sizeof(*p->setup) + p->rows * sizeof(struct pov_fn);
	p->setup_fd = memory_file_make(p->setup_bytes);
	if (p->setup_fd < 0)
		return p->setup_fd;
	p->setup = mmap(NULL, p->setup_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->setup_fd, 0);
	if (p->setup == MAP_FAILED) {
		p->setup = NULL;
		return -errno;
	}
	if (fcntl(p->setup_fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL))
		return -errno;
	p->setup->spin_gap_ns = p->opt.spin_gap_ns;
	p->setup->first_row = p->first_row;
	p->setup->rows = p->rows;
	for (uint32_t i = 0; i < p->rows; i++) {
		p->setup->fn[i] = p->opt.fns[p->first_row + i];
		p->wanted[i] = p->opt.wanted[p->first_row + i];
		p->setup->fn[i].unused = !p->wanted[i];
	}
	return 0;
}

static int socket_make(struct preload *p)
{
	struct sockaddr_un at;
	int err;

	run_socket_sweep(SOCKET_DIR, SOCKET_BEGIN);
	p->path = xasprintf(SOCKET_DIR "/" SOCKET_BEGIN "%d.sock", getpid());
	err = run_socket_place(p->path, &at);
	if (err)
		return err;
	p->fd = run_socket_listen(&at, BACKLOG);
	return p->fd < 0 ? p->fd : 0;
}

int preload_open(const struct preload_options *opt, struct preload **out)
{
	struct preload *p = xcalloc(1, sizeof(*p));
	int err;

	p->opt = *opt;
	p->fd = p->setup_fd = -1;
	rows_find(p);
	p->wanted = xcalloc(p->rows, sizeof(*p->wanted));
	err = setup_make(p);
	if (!err)
		err = socket_make(p);
	if (err) {
		log_error("cannot serve programs that record their calls themselves: %s",
			  strerror(-err));
		preload_close(p);
		return err;
	}
	cycle_rate_begin(&p->cycle_rate);
	preload_say_alive(p, true);
	opt->kernel->calls_until_too = &p->setup->calls_until;
	*out = p;
	return 0;
}

void preload_close(struct preload *p)
{
	if (!p)
		return;
	preload_say_alive(p, false);
	p->opt.kernel->calls_until_too = NULL;
	while (p->asking_cnt) {
		struct asking *a = &p->asking[--p->asking_cnt];

		close(a->conn);
		thread_area_free(a->area);
	}
	for (uint32_t i = 0; i < p->area_cnt; i++)
		thread_area_free(p->area[i]);
	free(p->area);
	if (p->fd >= 0) {
		unlink(p->path);
		close(p->fd);
	}
	if (p->setup)
		munmap(p->setup, p->setup_bytes);
	if (p->setup_fd >= 0)
		close(p->setup_fd);
	map_release(&p->bypassed);
	free(p->wanted);
	free(p->path);
	free(p);
}

/* Programs built with AddressSanitizer end at once where something is loaded before its library, unless they are told that it may be. */
static char **asan_environment(char *const *envp)
{
	const char *others = launch_env_get(envp, "ASAN_OPTIONS");
	char *options = xasprintf("verify_asan_link_order=0%s%s", others && *others ? ":" : "",
				  others ? others : "");
	char **with = launch_env_with(envp, "ASAN_OPTIONS", options);

	free(options);
	return with;
}

char **preload_environment(const struct preload *p, const struct launch_plan *plan)
{
	const char *others = launch_env_get(plan->envp, "LD_PRELOAD");
	char *preload, **with, **both;

	preload = others && *others ? xasprintf("%s:%s", p->opt.library, others) :
				      xstrdup(p->opt.library);
	with = launch_env_with(plan->envp, "LD_PRELOAD", preload);
	free(preload);
	both = launch_env_with(with, POV_PRELOAD_ENV, p->path);
	launch_env_free(with);
	with = asan_environment(both);
	launch_env_free(both);
	return with;
}

void preload_say_alive(struct preload *p, bool alive)
{
	if (!p->setup)
		return;
	__atomic_store_n(&p->setup->collector_ns, alive ? kernel_now_ns() : 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->setup->cycle_rate, alive ? cycle_rate_get(&p->cycle_rate) : 0,
			 __ATOMIC_RELAXED);
}

/* ---- threads ---- */

static void on_record(void *ctx, const struct pov_hdr *rec)
{
	struct preload *p = ctx;

	p->opt.record(p->opt.ctx, rec);
}

static uint64_t area_take(struct preload *p, struct thread_area *a)
{
	bool damaged = a->damaged;
	uint64_t bytes = thread_area_take(a, on_record, p);

	if (a->damaged && !damaged && !p->damaged++)
		log_warn(
			"process %u has written nonsense where its calls are recorded: of thread %u "
			"nothing is taken from now on",
			a->who.tgid, a->who.tid);
	return bytes;
}

/* It has ended, or executes another program: flag says what becomes of its open calls. */
static void area_retire(struct preload *p, uint32_t i, uint64_t end_ns, uint8_t flag)
{
	struct thread_area *a = p->area[i];

	area_take(p, a);
	thread_area_end(a, end_ns, flag, on_record, p);
	thread_area_count(a, &p->gone);
	bpf_map_delete_elem(p->opt.kernel->preloaded_fd, &a->who.tid);
	thread_area_free(a);
	p->area[i] = p->area[--p->area_cnt];
}

void preload_identity(struct preload *p, const struct pov_hdr *rec)
{
	uint32_t i = 0;

	if (rec->kind != POV_KIND_EXIT && rec->kind != POV_KIND_EXEC)
		return;
	while (i < p->area_cnt) {
		const struct preload_speaker *who = &p->area[i]->who;

		if (rec->kind == POV_KIND_EXIT && who->tid == rec->tid)
			area_retire(p, i, rec->ts_ns, POV_CALL_OPEN);
		else if (rec->kind == POV_KIND_EXEC && who->since_ns < rec->ts_ns &&
			 who->tgid == ((const struct pov_task *)rec)->tgid)
			area_retire(p, i, rec->ts_ns, POV_CALL_UNWOUND);
		else
			i++;
	}
}

/* Its first call. */
static void thread_announce(struct preload *p, const struct preload_speaker *who)
{
	const struct pov_caller r = {
		.hdr = {.size = sizeof(r),
			.kind = POV_KIND_CALLER,
			.tid = who->tid,
			.ts_ns = kernel_now_ns()},
		.tgid = who->tgid,
	};

	on_record(p, &r.hdr);
}

static int area_ready(struct preload *p, struct asking *from, uint64_t address)
{
	struct thread_area *a = from->area;
	struct pov_preloaded entry = {.address = address};

	if (!a)
		return -EINVAL;
	if (bpf_map_update_elem(p->opt.kernel->preloaded_fd, &a->who.tid, &entry, BPF_ANY))
		return -errno;
	close(a->fd);
	a->fd = -1;
	from->area = NULL;
	if (p->area_cnt == p->area_cap) {
		p->area_cap = p->area_cap ? 2 * p->area_cap : 16;
		p->area = xrealloc(p->area, p->area_cap * sizeof(*p->area));
	}
	p->area[p->area_cnt++] = a;
	p->threads++;
	thread_announce(p, &a->who);
	return 0;
}

/* ---- requests ---- */

/* Who is at the other end: a process that is recorded, or -errno. */
static int asker_find(const struct preload *p, int conn, uint32_t *tgid)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	uint32_t target;

	if (getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		return -errno;
	*tgid = (uint32_t)peer.pid;
	return bpf_map_lookup_elem(p->opt.kernel->targets_fd, tgid, &target) ? -ESRCH : 0;
}

static int area_give(struct preload *p, struct asking *from, const struct pov_preload_request *r,
		     struct pov_preload_answer *answer)
{
	struct preload_speaker who = {
		.first_row = p->first_row,
		.rows = p->rows,
		.wanted = p->wanted,
		.cpus = (uint32_t)libbpf_num_possible_cpus(),
	};
	uint32_t lib;
	int known, err;

	if (r->rows != p->rows)
		return -EPROTONOSUPPORT;
	err = asker_find(p, from->conn, &who.tgid);
	if (err)
		return err;
	who.tid = (uint32_t)proc_thread_find((pid_t)who.tgid, (pid_t)r->tid);
	if (!who.tid)
		return -ESRCH;
	if (!proc_same_clock((pid_t)who.tgid))
		return -EXDEV;
	known = p->opt.library_at(p->opt.ctx, (pid_t)who.tgid, r->address);
	if (known < 0)
		return known;
	lib = (uint32_t)known;
	if (bpf_map_lookup_elem(p->opt.kernel->libs_fd, &lib, &p->setup->lib[lib]))
		return -errno;
	for (uint32_t i = 0; i < p->area_cnt; i++)
		if (p->area[i]->who.tid == who.tid) {
			area_retire(p, i, kernel_now_ns(), POV_CALL_UNWOUND);
			break;
		}
	who.lib = (uint16_t)lib;
	who.since_ns = kernel_now_ns();
	thread_area_free(from->area);
	from->area = NULL;
	answer->lib = who.lib;
	answer->setup_bytes = p->setup_bytes;
	return thread_area_make(&who, &from->area);
}

static int bypass_note(struct preload *p, int conn)
{
	uint32_t tgid;
	int err = asker_find(p, conn, &tgid);

	if (err)
		return err;
	map_set(&p->bypassed, tgid, p);
	log_warn(
		"process %u opens a library with RTLD_DEEPBIND: if that calls MPI, these calls are not recorded; --capture probes "
		"records them",
		tgid);
	return 0;
}

static void request_answer(struct preload *p, struct asking *from,
			   const struct pov_preload_request *r)
{
	struct pov_preload_answer a = {.magic = POV_PRELOAD_MAGIC, .version = POV_PRELOAD_VERSION};
	int fd[2] = {p->setup_fd, -1};

	if (r->version != POV_PRELOAD_VERSION)
		a.status = -EPROTONOSUPPORT;
	else if (r->wish == POV_PRELOAD_AREA)
		a.status = area_give(p, from, r, &a);
	else if (r->wish == POV_PRELOAD_READY)
		a.status = area_ready(p, from, r->address);
	else if (r->wish == POV_PRELOAD_BYPASSED)
		a.status = bypass_note(p, from->conn);
	else
		a.status = -EINVAL;
	if (!a.status && r->wish == POV_PRELOAD_AREA)
		fd[1] = from->area->fd;
	run_socket_send(from->conn, &a, sizeof(a), fd, fd[1] >= 0 ? 2 : 0);
}

static void asking_drop(struct preload *p, unsigned int i)
{
	close(p->asking[i].conn);
	thread_area_free(p->asking[i].area);
	p->asking[i] = p->asking[--p->asking_cnt];
}

static void asking_read(struct preload *p, unsigned int i)
{
	struct pov_preload_request r;
	ssize_t n = recv(p->asking[i].conn, &r, sizeof(r), MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	p->asking[i].since_ns = kernel_now_ns();
	if (n == (ssize_t)sizeof(r) && r.magic == POV_PRELOAD_MAGIC)
		request_answer(p, &p->asking[i], &r);
	else
		asking_drop(p, i);
}

static bool asking_is_stale(const struct preload *p, const struct asking *a)
{
	uint64_t silent_ns = kernel_now_ns() - a->since_ns;
	uint32_t tgid;

	return silent_ns > SILENT_NS ||
	       (silent_ns > SILENT_STRANGER_NS && asker_find(p, a->conn, &tgid));
}

unsigned int preload_poll(const struct preload *p, struct pollfd *out)
{
	unsigned int cnt = 0;

	for (unsigned int i = 0; i < p->asking_cnt; i++)
		out[cnt++] = (struct pollfd){.fd = p->asking[i].conn, .events = POLLIN};
	if (p->asking_cnt < ASKING_MAX) /* others wait until one is done */
		out[cnt++] = (struct pollfd){.fd = p->fd, .events = POLLIN};
	return cnt;
}

void preload_work(struct preload *p, const struct pollfd *polled, unsigned int cnt)
{
	bool more = cnt && polled[cnt - 1].fd == p->fd && polled[cnt - 1].revents;
	int conn;

	/* from behind: one that is dropped has its place taken by the last */
	for (unsigned int i = p->asking_cnt; i-- > 0;)
		if (i < cnt && polled[i].fd == p->asking[i].conn && polled[i].revents)
			asking_read(p, i);
		else if (asking_is_stale(p, &p->asking[i]))
			asking_drop(p, i);
	while (more && p->asking_cnt < ASKING_MAX &&
	       (conn = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		p->asking[p->asking_cnt++] = (struct asking){.conn = conn,
							     .since_ns = kernel_now_ns()};
}

/* ---- records ---- */

bool preload_consume(struct preload *p)
{
	bool full = false;

	for (uint32_t i = 0; i < p->area_cnt; i++)
		full |= area_take(p, p->area[i]) > POV_PRELOAD_RING_BYTES / FULL_SHARE;
	return full;
}

uint64_t preload_open_calls(struct preload *p, uint64_t end_ns,
			    void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx)
{
	uint64_t calls = 0;

	for (uint32_t i = 0; i < p->area_cnt; i++)
		calls += thread_area_end(p->area[i], end_ns, POV_CALL_OPEN, fn, ctx);
	return calls;
}

void preload_untold(const struct preload *p, void (*fn)(void *ctx, const struct pov_hdr *rec),
		    void *ctx)
{
	for (uint32_t i = 0; i < p->area_cnt; i++)
		thread_area_untold(p->area[i], fn, ctx);
}

void preload_function_set(struct preload *p, uint32_t row, bool counted, bool left_out)
{
	uint32_t at = row - p->first_row;

	if (at >= p->rows || !p->wanted[at])
		return;
	__atomic_store_n(&p->setup->fn[at].counted, counted, __ATOMIC_RELAXED);
	__atomic_store_n(&p->setup->fn[at].unused, left_out, __ATOMIC_RELAXED);
}

void preload_counts_get(const struct preload *p, struct preload_counts *out)
{
	*out = p->gone;
	for (uint32_t i = 0; i < p->area_cnt; i++)
		thread_area_count(p->area[i], out);
}

uint32_t preload_thread_cnt(const struct preload *p)
{
	return p->threads;
}

uint32_t preload_damaged_cnt(const struct preload *p)
{
	return p->damaged;
}

uint32_t preload_bypassed_cnt(const struct preload *p)
{
	return (uint32_t)p->bypassed.cnt;
}
