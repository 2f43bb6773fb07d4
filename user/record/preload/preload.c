/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "record/preload/preload.h"

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
#include "record/launch/launch.h"
#include "record/launch/launch_env.h"
#include "target/code_file.h"
#include "target/proc.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/memory_file.h"
#include "lib/own_file.h"
#include "lib/person.h"
#include "lib/run_socket.h"
#include "record/host/cycle_rate.h"
#include "record/kernel.h"
#include "record/host/memory_limits.h"
#include "record/preload/preload_pool.h"
#include "layers/func_table.h"

#define LIBRARY "libpovtrace-preload.so" /* beside this program, or in the installation */
#define SOCKET_DIR POV_PRELOAD_DIR
#define SOCKET_BEGIN POV_PRELOAD_SOCKET
#define ASKING_MAX (PRELOAD_POLLED - 1)
#define BACKLOG 256
#define FULL_SHARE 0.25 /* a ring fuller than this fraction is read again soon */
#define SPARE_PART 16	/* this fraction of the available memory may be used for larger rings */

/* Drop clients that stay silent this long, because any user may connect and fill the queue. */
#define SILENT_NS 2000000000ull
#define SILENT_STRANGER_NS 20000000ull

/* A connection. */
struct asking {
	int conn;
	uint64_t since_ns;
	uint32_t tgid; /* the peer process, once it has asked */
	/* Runs when the process's questions are answered; NULL: it waits for nothing. */
	void (*then)(struct preload *p, struct asking *from);
	bool has_pool;
	/* The process has its plan and hooks itself. It may be stopped meanwhile for any time. */
	bool planned;
};

struct preload {
	struct preload_options opt;
	char *path; /* path of the socket */
	int fd, setup_fd;
	struct pov_preload_setup *setup;
	uint64_t setup_bytes;
	uint32_t hook_cnt;
	struct {
		const struct library *lib;
		uint32_t first;
	} hooks[POV_LIB_NUMBERS]; /* a library's hooks in the setup; lib NULL: not there yet */
	struct cycle_rate cycle_rate;
	uint32_t first_row, rows;
	bool *wanted;
	struct asking asking[ASKING_MAX];
	unsigned int asking_cnt;
	struct map pools;   /* process → pool; owned */
	struct map threads; /* thread → process, for all threads that may record */
	uint32_t thread_cnt, damaged, missed;
	uint64_t spare;	   /* bytes still available for larger rings, shared by all threads */
	bool worlds_asked; /* processes may wait for the answer about their rank */
	struct preload_counts gone; /* counts of freed pools */
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

/* Tries to make a socket where processes look for it. 0 or -errno. */
static int socket_place_try(void)
{
	struct sockaddr_un at;
	char path[64];
	int err, fd;

	snprintf(path, sizeof(path), SOCKET_DIR "/" SOCKET_BEGIN "%d.sock", getpid());
	err = run_socket_place(path, &at);
	if (err)
		return err;
	fd = run_socket_listen(&at, 1);
	if (fd < 0)
		return fd;
	unlink(path);
	close(fd);
	return 0;
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
		*problem = xasprintf(
			"%s may not read %s; install povtrace where all users can read it",
			plan->as ? plan->as->name : "root", path);
	else if (path[strcspn(path, " :")]) /* ld.so separates names here */
		*problem = xasprintf("LD_PRELOAD cannot name \"%s\"; install povtrace in a folder "
				     "without blanks and colons",
				     path);
	else if ((err = socket_place_try()))
		*problem = xasprintf("processes cannot reach the recorder: " SOCKET_DIR ": %s",
				     strerror(-err));
	if (!*problem)
		return path;
	free(path);
	return NULL;
}

/* ---- the setup ---- */

/* Finds the rows of the layer for which the library has shims. */
static void rows_find(struct preload *p)
{
	while (!func_table_layer(p->first_row)->is_top)
		p->first_row++;
	while (p->first_row + p->rows < func_table_count() &&
	       func_table_layer(p->first_row + p->rows)->is_top)
		p->rows++;
}

/* Makes the setup, which only we can write: our mapping is older than the seal. */
static int setup_make(struct preload *p)
{
	p->setup_bytes = sizeof(*p->setup) + p->rows * sizeof(struct pov_fn) +
			 POV_PRELOAD_HOOKS_MAX * sizeof(struct pov_hook);
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
	p->spare = memory_available() / SPARE_PART;
	p->wanted = xcalloc(p->rows, sizeof(*p->wanted));
	err = opt->records ? setup_make(p) : 0;
	if (!err)
		err = socket_make(p);
	if (err) {
		log_error("cannot listen for programs that record their own calls: %s",
			  strerror(-err));
		preload_close(p);
		return err;
	}
	cycle_rate_begin(&p->cycle_rate);
	preload_say_alive(p, true);
	if (p->setup)
		opt->kernel->calls_until_too = &p->setup->calls_until;
	*out = p;
	return 0;
}

static void pool_free(void *pool)
{
	preload_pool_free(pool);
}

void preload_close(struct preload *p)
{
	if (!p)
		return;
	preload_say_alive(p, false);
	p->opt.kernel->calls_until_too = NULL;
	while (p->asking_cnt)
		close(p->asking[--p->asking_cnt].conn);
	map_free(&p->pools, pool_free);
	map_release(&p->threads);
	if (p->fd >= 0) {
		unlink(p->path);
		close(p->fd);
	}
	if (p->setup)
		munmap(p->setup, p->setup_bytes);
	if (p->setup_fd >= 0)
		close(p->setup_fd);
	free(p->wanted);
	free(p->path);
	free(p);
}

char **preload_environment(const struct preload *p, const struct launch_plan *plan)
{
	const char *others = launch_env_get(plan->envp, "LD_PRELOAD");
	const char *name = strrchr(p->opt.library, '/');
	char *preload, **with;

	preload = xasprintf("%.*s%s%s%s%s", (int)(name - p->opt.library), p->opt.library,
			    p->opt.records ? "/" : POV_PRELOAD_WAITS, name + 1,
			    others && *others ? ":" : "", others ?: "");
	with = launch_env_with(plan->envp, "LD_PRELOAD", preload);
	free(preload);
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

/* Reads a slot's records. Returns the fraction of the ring that was in use. */
static double slot_read(struct preload *p, struct thread_area *a)
{
	bool damaged = a->damaged;
	double full = thread_area_take(a, p->opt.record, p->opt.ctx);

	if (a->damaged && !damaged && !p->damaged++)
		log_warn(
			"process %u has damaged the memory for its recorded calls: further records "
			"of thread %u are ignored",
			a->who.tgid, a->who.tid);
	return full;
}

/* Reports a thread's first call, as the kernel half does. */
static void thread_announce(struct preload *p, uint32_t tid, uint32_t tgid)
{
	const struct pov_caller r = {
		.hdr = {.size = sizeof(r),
			.kind = POV_KIND_CALLER,
			.tid = tid,
			.ts_ns = kernel_now_ns()},
		.tgid = tgid,
	};

	p->thread_cnt++;
	on_record(p, &r.hdr);
}

/*
 * Notices a new owner of a slot and registers it in a BPF map: the kernel half reads the open calls
 * of a thread that leaves its CPU.
 */
static void owner_check(struct preload *p, struct preload_pool *pool, uint32_t i)
{
	uint32_t owner = __atomic_load_n(&pool->slot[i].mem->owner, __ATOMIC_ACQUIRE);
	struct pov_preloaded entry = {.address = pool->address + (uint64_t)i * pool->slot_bytes};

	if (owner == pool->owner[i] || owner == POV_PRELOAD_BUSY)
		return;
	if (owner && (uintptr_t)map_get(&p->threads, owner) != pool->who.tgid)
		return;
	pool->owner[i] = owner;
	if (!owner)
		return;
	if (bpf_map_update_elem(p->opt.kernel->preloaded_fd, &owner, &entry, BPF_ANY))
		log_debug("thread %u: %s", owner, strerror(errno));
	thread_announce(p, owner, pool->who.tgid);
}

/* Reports that the thread's process initialises MPI or has done so. */
static void world_check(struct preload *p, struct thread_area *a)
{
	uint32_t state = __atomic_load_n(&a->mem->world_state, __ATOMIC_ACQUIRE);
	uint64_t ts_ns = a->mem->world_ns, now = kernel_now_ns();
	const struct pov_caller r = {
		.hdr = {.size = sizeof(r),
			.kind = POV_KIND_INIT,
			.flags = state == POV_PRELOAD_WORLD_DONE ? POV_INIT_DONE : 0,
			.tid = a->who.tid,
			.ts_ns = ts_ns > a->who.since_ns && ts_ns < now ? ts_ns : now},
		.tgid = a->who.tgid,
	};

	if (state <= a->world_told || state > POV_PRELOAD_WORLD_DONE)
		return;
	a->world_told = state;
	p->worlds_asked |= state == POV_PRELOAD_WORLD_DONE;
	on_record(p, &r.hdr);
}

/* Releases the processes whose MPI library has been asked for their rank. */
static void worlds_answer(struct preload *p)
{
	struct preload_pool *pool;

	p->worlds_asked = false;
	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		for (uint32_t i = 0; i < pool->used; i++) {
			struct thread_area *a = &pool->slot[i];

			if (a->world_told != POV_PRELOAD_WORLD_DONE || a->mem->world_answered)
				continue;
			if (p->opt.settled(p->opt.ctx, (pid_t)pool->who.tgid))
				__atomic_store_n(&a->mem->world_answered, 1, __ATOMIC_RELEASE);
			else
				p->worlds_asked = true;
		}
}

static bool pool_take(struct preload *p, struct preload_pool *pool)
{
	bool full = false;

	if (!pool->address)
		return false;
	preload_pool_look(pool);
	for (uint32_t i = 0; i < pool->used; i++) {
		struct thread_area *a = &pool->slot[i];

		owner_check(p, pool, i);
		full |= slot_read(p, a) > FULL_SHARE;
		world_check(p, a);
	}
	return full;
}

static void pool_end(struct preload *p, struct preload_pool *pool)
{
	for (uint32_t i = 0; i < pool->used; i++)
		thread_area_count(&pool->slot[i], &p->gone);
	map_remove(&p->pools, pool->who.tgid);
	preload_pool_free(pool);
}

/* flag is the POV_CALL_* flag for the thread's open calls. */
static void thread_end(struct preload *p, struct preload_pool *pool, uint32_t tid, uint64_t end_ns,
		       uint8_t flag)
{
	for (uint32_t i = 0; i < pool->used; i++) {
		struct thread_area *a = &pool->slot[i];

		if (__atomic_load_n(&a->mem->owner, __ATOMIC_ACQUIRE) == tid)
			thread_area_free_of(a, tid, end_ns, flag, on_record, p);
	}
	bpf_map_delete_elem(p->opt.kernel->preloaded_fd, &tid);
}

static void on_exit_of(struct preload *p, uint32_t tid, uint32_t tgid, uint64_t ts_ns)
{
	struct preload_pool *pool = map_get(&p->pools, tgid);

	if (pool) {
		pool_take(p, pool);
		thread_end(p, pool, tid, ts_ns, POV_CALL_OPEN);
		pool->main_gone |= tid == tgid;
		if (pool->main_gone && preload_pool_is_left(pool))
			pool_end(p, pool);
	}
	map_remove(&p->threads, tid);
}

/* The process has executed a program: all its other threads are gone. */
static void on_exec_of(struct preload *p, uint32_t tgid, uint64_t ts_ns)
{
	struct preload_pool *pool = map_get(&p->pools, tgid);

	map_set(&p->threads, tgid, (void *)(uintptr_t)tgid);
	if (!pool || pool->who.since_ns > ts_ns)
		return;
	pool_take(p, pool);
	for (uint32_t i = 0; i < pool->used; i++)
		thread_end(p, pool, pool->slot[i].mem->owner, ts_ns, POV_CALL_UNWOUND);
	pool_end(p, pool);
}

void preload_identity(struct preload *p, const struct pov_hdr *rec)
{
	const struct pov_fork *fork = (const struct pov_fork *)rec;

	switch (rec->kind) {
	case POV_KIND_FORK:
		map_set(&p->threads, fork->child_tid, (void *)(uintptr_t)fork->child_tgid);
		break;
	case POV_KIND_EXIT:
		on_exit_of(p, rec->tid, ((const struct pov_exit *)rec)->tgid, rec->ts_ns);
		break;
	case POV_KIND_EXEC:
		on_exec_of(p, ((const struct pov_task *)rec)->tgid, rec->ts_ns);
		break;
	}
}

/* ---- requests ---- */

/* Finds the process at the other end, which must be recorded. 0 or -errno. */
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

static int pool_give(struct preload *p, uint32_t tgid, struct preload_pool **out)
{
	struct preload_pool *pool = map_get(&p->pools, tgid);
	struct preload_speaker who = {
		.tgid = tgid,
		.first_row = p->first_row,
		.rows = p->rows,
		.wanted = p->wanted,
		.cpus = (uint32_t)libbpf_num_possible_cpus(),
		.since_ns = kernel_now_ns(),
	};
	int err;

	if (!proc_same_clock((pid_t)tgid))
		return -EXDEV;
	if (pool) /* the process never took it */
		pool_end(p, pool);
	err = preload_pool_make(&who, &p->threads, &p->spare, out);
	if (err)
		return err;
	map_set(&p->pools, tgid, *out);
	map_set(&p->threads, tgid, (void *)(uintptr_t)tgid);
	return 0;
}

/* Adds a library's hooks to the setup. False: no room. */
static bool hooks_put(struct preload *p, const struct library *lib)
{
	struct pov_hook *to = (struct pov_hook *)pov_preload_hooks(p->setup) + p->hook_cnt;
	uint32_t id = lib->id;

	if (p->hooks[id].lib)
		return true;
	if (p->hook_cnt + lib->hook_cnt > POV_PRELOAD_HOOKS_MAX ||
	    bpf_map_lookup_elem(p->opt.kernel->libs_fd, &id, &p->setup->lib[id]))
		return false;
	for (size_t i = 0; i < lib->hook_cnt; i++) {
		to[i] = lib->hooks[i];
		to[i].row -= (pov_u16)p->first_row;
	}
	p->hooks[id].lib = lib;
	p->hooks[id].first = p->hook_cnt;
	p->hook_cnt += (uint32_t)lib->hook_cnt;
	return true;
}

struct planning {
	struct preload *p;
	struct preload_pool *pool;
	struct pov_preload_answer *answer;
};

static void library_plan(void *ctx, const struct library *lib, uint64_t bias)
{
	struct planning *pl = ctx;
	struct pov_preload_answer *a = pl->answer;

	if (!lib->hook_cnt || a->libraries == POV_PRELOAD_LIBRARIES || !hooks_put(pl->p, lib))
		return;
	pl->pool->lib[lib->id] = true;
	a->library[a->libraries++] = (struct pov_preload_library){
		.bias = bias,
		.first = pl->p->hooks[lib->id].first,
		.cnt = (uint32_t)lib->hook_cnt,
		.lib = lib->id,
	};
}

static void answer_send(int conn, struct pov_preload_answer *a, const int *fd, unsigned int fd_cnt)
{
	a->magic = POV_PRELOAD_MAGIC;
	a->version = POV_PRELOAD_VERSION;
	run_socket_send(conn, a, sizeof(*a), fd, fd_cnt);
}

/* Answers a PLAN request. All files that the process has mapped are inspected. */
static void plan_answer(struct preload *p, struct asking *from)
{
	struct pov_preload_answer a = {.setup_bytes = p->setup_bytes,
				       .pool_bytes = POV_PRELOAD_POOL_BYTES};
	struct preload_pool *pool = map_get(&p->pools, from->tgid);
	struct planning pl = {p, pool, &a};
	int fd[2] = {p->setup_fd};

	if (!p->opt.records) {
		a.setup_bytes = a.pool_bytes = 0;
		answer_send(from->conn, &a, NULL, 0);
		return;
	}

	if (!from->has_pool || !pool) {
		a.status = from->has_pool ? -ESTALE : pool_give(p, from->tgid, &pl.pool);
		if (a.status) {
			answer_send(from->conn, &a, NULL, 0);
			return;
		}
		fd[1] = pl.pool->fd;
	}
	p->opt.libraries(p->opt.ctx, (pid_t)from->tgid, library_plan, &pl);
	p->opt.bindings(p->opt.ctx, (pid_t)from->tgid, &a.bindings, p->setup->step);
	answer_send(from->conn, &a, fd, from->has_pool ? 0 : 2);
	from->planned = true;
}

static int plan_ask(struct preload *p, struct asking *from, const struct pov_preload_request *r)
{
	int err = asker_find(p, from->conn, &from->tgid);

	from->has_pool = r->number;
	from->then = err ? NULL : plan_answer;
	return err;
}

/* ---- functions that a process could not hook ---- */

struct missing {
	struct preload *p;
	pid_t pid;
	int memory; /* /proc/PID/mem of the process */
};

/* Requests probes for hooked functions that do not begin with a jump. */
static void library_missing(void *ctx, const struct library *lib, uint64_t bias)
{
	struct missing *m = ctx;
	uint16_t *row = xcalloc(lib->hook_cnt + 1, sizeof(*row));
	size_t cnt = 0;
	uint8_t byte;

	for (size_t i = 0; i < lib->hook_cnt; i++) {
		const struct pov_hook *h = &lib->hooks[i];

		if (pread(m->memory, &byte, 1, (off_t)(bias + h->address)) != 1 || byte != 0xe9 ||
		    h->code[0] == 0xe9)
			row[cnt++] = h->row;
	}
	if (cnt) {
		log_warn("process %d: %zu functions are recorded by probes instead of by the "
			 "process itself: their code cannot be changed, or something else has "
			 "changed it",
			 m->pid, cnt);
		m->p->missed += (uint32_t)cnt;
		m->p->opt.unserved(m->p->opt.ctx, m->pid, lib, row, cnt);
	}
	free(row);
}

static void missing_probe(struct preload *p, pid_t pid)
{
	struct missing m = {p, pid, -1};
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	m.memory = open(path, O_RDONLY | O_CLOEXEC);
	if (m.memory < 0)
		return;
	p->opt.libraries(p->opt.ctx, pid, library_missing, &m);
	close(m.memory);
}

static void ready_answer(struct preload *p, struct asking *from)
{
	struct pov_preload_answer a = {0};

	(void)p;
	answer_send(from->conn, &a, NULL, 0);
}

static int pool_ready(struct preload *p, struct asking *from, const struct pov_preload_request *r)
{
	struct preload_pool *pool = map_get(&p->pools, from->tgid);

	if (!pool)
		return -EINVAL;
	if (pool->fd >= 0) {
		close(pool->fd);
		pool->fd = -1;
	}
	preload_pool_placed(pool, r->address, r->number);
	pool_take(p, pool);
	if (r->missed)
		missing_probe(p, (pid_t)from->tgid);
	from->then = ready_answer;
	return 0;
}

static int program_ask(struct preload *p, struct asking *from, const struct pov_preload_program *r)
{
	int err = asker_find(p, from->conn, &from->tgid);

	if (err)
		return err;
	p->opt.program(p->opt.ctx, (pid_t)from->tgid, r->path);
	from->then = ready_answer;
	return 0;
}

static void request_answer(struct preload *p, struct asking *from,
			   const struct pov_preload_program *program)
{
	const struct pov_preload_request *r = &program->request;
	struct pov_preload_answer a = {0};

	if (r->version != POV_PRELOAD_VERSION)
		a.status = -EPROTONOSUPPORT;
	else if (r->wish == POV_PRELOAD_PLAN)
		a.status = plan_ask(p, from, r);
	else if (r->wish == POV_PRELOAD_READY && from->tgid)
		a.status = pool_ready(p, from, r);
	else if (r->wish == POV_PRELOAD_PROGRAM)
		a.status = program_ask(p, from, program);
	else
		a.status = -EINVAL;
	if (!from->then)
		answer_send(from->conn, &a, NULL, 0);
}

static void asking_drop(struct preload *p, unsigned int i)
{
	close(p->asking[i].conn);
	p->asking[i] = p->asking[--p->asking_cnt];
}

static void asking_read(struct preload *p, unsigned int i)
{
	struct pov_preload_program r = {};
	ssize_t n = recv(p->asking[i].conn, &r, sizeof(r), MSG_DONTWAIT);
	ssize_t bytes = r.request.wish == POV_PRELOAD_PROGRAM ? sizeof(r) : sizeof(r.request);

	if (n < 0 && errno == EAGAIN)
		return;
	p->asking[i].since_ns = kernel_now_ns();
	r.path[sizeof(r.path) - 1] = '\0';
	if (n == bytes && r.request.magic == POV_PRELOAD_MAGIC)
		request_answer(p, &p->asking[i], &r);
	else
		asking_drop(p, i);
}

static bool asking_is_stale(const struct preload *p, const struct asking *a)
{
	uint64_t silent_ns = kernel_now_ns() - a->since_ns;
	uint32_t tgid;

	return (silent_ns > SILENT_NS && !a->then && !a->planned) ||
	       (silent_ns > SILENT_STRANGER_NS && asker_find(p, a->conn, &tgid));
}

unsigned int preload_poll(const struct preload *p, struct pollfd *out)
{
	unsigned int cnt = 0;

	for (unsigned int i = 0; i < p->asking_cnt; i++)
		out[cnt++] = (struct pollfd){.fd = p->asking[i].conn, .events = POLLIN};
	if (p->asking_cnt < ASKING_MAX) /* at the limit, new clients wait in the queue */
		out[cnt++] = (struct pollfd){.fd = p->fd, .events = POLLIN};
	return cnt;
}

/* Answers a client whose questions are answered. */
static void asking_settled(struct preload *p, struct asking *a)
{
	void (*then)(struct preload *, struct asking *) = a->then;

	a->then = NULL;
	a->since_ns = kernel_now_ns();
	then(p, a);
}

void preload_work(struct preload *p, const struct pollfd *polled, unsigned int cnt)
{
	bool more = cnt && polled[cnt - 1].fd == p->fd && polled[cnt - 1].revents;
	int conn;

	/* backwards, because the last entry replaces a dropped one */
	for (unsigned int i = p->asking_cnt; i-- > 0;)
		if (i < cnt && polled[i].fd == p->asking[i].conn && polled[i].revents)
			asking_read(p, i);
		else if (asking_is_stale(p, &p->asking[i]))
			asking_drop(p, i);
	for (unsigned int i = 0; i < p->asking_cnt; i++)
		if (p->asking[i].then && p->opt.settled(p->opt.ctx, (pid_t)p->asking[i].tgid))
			asking_settled(p, &p->asking[i]);
	if (p->worlds_asked)
		worlds_answer(p);
	while (more && p->asking_cnt < ASKING_MAX &&
	       (conn = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		p->asking[p->asking_cnt++] = (struct asking){.conn = conn,
							     .since_ns = kernel_now_ns()};
}

/* ---- records ---- */

bool preload_consume(struct preload *p)
{
	struct preload_pool *pool;
	bool full = false;

	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		full |= pool_take(p, pool);
	return full;
}

bool preload_fills(const struct preload *p)
{
	const struct preload_pool *pool;

	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		for (uint32_t i = 0; i < pool->used; i++)
			if (thread_area_fills(&pool->slot[i]))
				return true;
	return false;
}

uint64_t preload_open_calls(struct preload *p, uint64_t end_ns,
			    void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx)
{
	struct preload_pool *pool;
	uint64_t calls = 0;

	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		for (uint32_t i = 0; i < pool->used; i++)
			calls += thread_area_end(&pool->slot[i], end_ns, POV_CALL_OPEN, fn, ctx);
	return calls;
}

void preload_untold(const struct preload *p, void (*fn)(void *ctx, const struct pov_hdr *rec),
		    void *ctx)
{
	const struct preload_pool *pool;

	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		for (uint32_t i = 0; i < pool->used; i++)
			thread_area_untold(&pool->slot[i], fn, ctx);
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
	const struct preload_pool *pool;

	*out = p->gone;
	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		for (uint32_t i = 0; i < pool->used; i++)
			thread_area_count(&pool->slot[i], out);
}

uint32_t preload_thread_cnt(const struct preload *p)
{
	return p->thread_cnt;
}

uint32_t preload_damaged_cnt(const struct preload *p)
{
	return p->damaged;
}

uint32_t preload_missed_cnt(const struct preload *p)
{
	return p->missed;
}
