/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the library with which processes record their own calls, makes the setup that all processes
 * share, and reads the threads' rings. preload_requests.c answers the processes.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layers/func_table.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/person.h"
#include "lib/run_socket.h"
#include "record/host/cgroup_limits.h"
#include "record/kernel.h"
#include "record/launch/launch.h"
#include "record/preload/preload_internal.h"
#include "target/foreign_program.h"
#include "target/probes/code_turn.h"
#include "target/proc.h"

/* ---- threads that record their own calls ---- */

#define FULL_SHARE 0.25 /* a ring fuller than this fraction is read again soon */

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
			.ts_ns = clock_now_ns()},
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
	struct pov_preloaded entry = {.address = pool->address +
						 (uint64_t)i * POV_PRELOAD_SLOT_BYTES};

	if (owner == pool->owner[i] || owner == POV_PRELOAD_BUSY)
		return;
	if (owner && (uintptr_t)map_get(&p->threads, owner) != pool->who.tgid)
		return;
	pool->owner[i] = owner;
	if (!owner)
		return;
	if (bpf_map_update_elem(p->opt.kernel->preloaded_fd, &owner, &entry, BPF_ANY))
		log_debug("cannot register thread %u: %s", owner, strerror(errno));
	thread_announce(p, owner, pool->who.tgid);
}

/* Reports that the thread's process initialises MPI or has done so. */
static void world_check(struct preload *p, struct thread_area *a)
{
	uint32_t state = __atomic_load_n(&a->mem->world_state, __ATOMIC_ACQUIRE);
	uint64_t ts_ns = a->mem->world_ns, now = clock_now_ns();
	const struct pov_caller r = {
		.hdr = {.size = sizeof(r),
			.kind = POV_KIND_INIT,
			.flags = state == POV_PRELOAD_WORLD_DONE ? POV_INIT_DONE : 0,
			.tid = a->who.tid,
			.ts_ns = ts_ns > a->who.since_ns && ts_ns < now ? ts_ns : now},
		.tgid = a->who.tgid,
	};

	if (state <= a->world_reported || state > POV_PRELOAD_WORLD_DONE)
		return;
	a->world_reported = state;
	p->worlds_asked |= state == POV_PRELOAD_WORLD_DONE;
	on_record(p, &r.hdr);
}

void preload_worlds_answer(struct preload *p)
{
	struct preload_pool *pool;

	p->worlds_asked = false;
	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		for (uint32_t i = 0; i < pool->used; i++) {
			struct thread_area *a = &pool->slot[i];

			if (a->world_reported != POV_PRELOAD_WORLD_DONE || a->mem->world_answered)
				continue;
			if (p->opt.settled(p->opt.ctx, (pid_t)pool->who.tgid))
				__atomic_store_n(&a->mem->world_answered, 1, __ATOMIC_RELEASE);
			else
				p->worlds_asked = true;
		}
}

bool preload_pool_read(struct preload *p, struct preload_pool *pool)
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

void preload_pool_end(struct preload *p, struct preload_pool *pool)
{
	preload_pool_count(pool, &p->gone);
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
		preload_pool_read(p, pool);
		thread_end(p, pool, tid, ts_ns, POV_CALL_OPEN);
		/* its threads may outlive the first one, and have no slot yet */
		if (!kernel_target_lives(p->opt.kernel, tgid) && preload_pool_is_left(pool))
			preload_pool_end(p, pool);
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
	preload_pool_read(p, pool);
	for (uint32_t i = 0; i < pool->used; i++)
		thread_end(p, pool, pool->slot[i].mem->owner, ts_ns, POV_CALL_UNWOUND);
	preload_pool_end(p, pool);
}

void preload_identity(struct preload *p, const struct pov_hdr *rec)
{
	const struct pov_fork *fork = (const struct pov_fork *)rec;

	switch (rec->kind) {
	case POV_KIND_TASK:
		map_set(&p->threads, rec->tid,
			(void *)(uintptr_t)((const struct pov_task *)rec)->tgid);
		break;
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

/* ---- records ---- */

bool preload_consume(struct preload *p)
{
	struct preload_pool *pool;
	bool full = false;

	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		full |= preload_pool_read(p, pool);
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

void preload_counts_get(const struct preload *p, struct preload_counts *out)
{
	const struct preload_pool *pool;

	*out = p->gone;
	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		preload_pool_count(pool, out);
}

uint32_t preload_thread_cnt(const struct preload *p)
{
	return p->thread_cnt;
}

uint32_t preload_damaged_cnt(const struct preload *p)
{
	return p->damaged;
}

#define LIBRARY "libpovtrace-preload.so" /* beside this program, or in the installation */
#define SOCKET_DIR POV_PRELOAD_DIR
#define SOCKET_BEGIN POV_PRELOAD_SOCKET
#define BACKLOG 256
#define SPARE_PART 16 /* this fraction of the available memory may be used for larger rings */

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

	/* Another recorder may have our number, if we are in a pid namespace. */
	snprintf(path, sizeof(path), SOCKET_DIR "/try.%d.sock", getpid());
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
		*problem = xasprintf("no socket can be made in " SOCKET_DIR ": %s", strerror(-err));
	if (!*problem)
		return path;
	free(path);
	return NULL;
}

#define ANCESTORS_MAX 64

bool preload_is_recorded(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	pid_t pid = proc_parent(getpid());

	for (int i = 0; pid > 1 && i < ANCESTORS_MAX; i++, pid = proc_parent(pid)) {
		/* our /run may be another one */
		snprintf(at.sun_path, sizeof(at.sun_path),
			 "/proc/%d/root" SOCKET_DIR "/" SOCKET_BEGIN "%d.sock", pid, pid);
		if (run_socket_is_served(&at))
			return true;
	}
	return false;
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
	if (p->fd < 0)
		return p->fd;
	at.sun_path[0] = '\0';
	strcpy(at.sun_path + 1, p->path);
	p->far_fd = run_socket_listen(&at, BACKLOG);
	if (p->far_fd < 0)
		log_warn("calls in containers may be missing: cannot listen at @%s: %s", p->path,
			 strerror(-p->far_fd));
	return 0;
}

int preload_open(const struct preload_options *opt, struct preload **out)
{
	struct preload *p = xcalloc(1, sizeof(*p));
	int err;

	p->opt = *opt;
	p->fd = p->far_fd = p->setup_fd = p->turn = -1;
	rows_find(p);
	p->spare = memory_available() / SPARE_PART;
	p->wanted = xcalloc(p->rows, sizeof(*p->wanted));
	err = opt->records ? setup_make(p) : 0;
	if (!err)
		err = socket_make(p);
	if (!err && opt->records)
		p->turn = code_turn_open();
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
	preload_refuse(p);
	code_turn_end(p->turn);
	map_free(&p->pools, pool_free);
	map_release(&p->threads);
	if (p->setup)
		munmap(p->setup, p->setup_bytes);
	if (p->setup_fd >= 0)
		close(p->setup_fd);
	free(p->wanted);
	free(p->path);
	free(p);
}

/* Returns the path of the library with our number in it (abi/preload.h). The caller frees it. */
static char *path_make(const struct preload *p)
{
	const char *name = strrchr(p->opt.library, '/');
	uint32_t number = (uint32_t)getpid() << POV_PRELOAD_COLLECTOR_SHIFT |
			  (p->opt.records ? 0 : POV_PRELOAD_WAITS);
	char bits[32 * (sizeof(POV_PRELOAD_BIT_1) - 1) + 1] = "";

	for (uint32_t bit = 1u << 31; bit; bit >>= 1)
		if (number >= bit)
			strcat(bits, number & bit ? POV_PRELOAD_BIT_1 : POV_PRELOAD_BIT_0);
	return xasprintf("%.*s%s%s", (int)(name - p->opt.library), p->opt.library, bits, name);
}

char **preload_environment(const struct preload *p, const struct launch_plan *plan)
{
	const char *others = launch_env_get(plan->envp, "LD_PRELOAD");
	char *path, *preload, **with;

	if (program_is_foreign(plan->program))
		return launch_env_with(plan->envp, "LD_PRELOAD", others);
	path = path_make(p);
	preload = xasprintf("%s%s%s", path, others && *others ? ":" : "", others ?: "");
	with = launch_env_with(plan->envp, "LD_PRELOAD", preload);
	free(preload);
	free(path);
	return with;
}

void preload_say_alive(struct preload *p, bool alive)
{
	if (!p->setup)
		return;
	__atomic_store_n(&p->setup->collector_ns, alive ? clock_now_ns() : 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->setup->cycle_rate, alive ? cycle_rate_get(&p->cycle_rate) : 0,
			 __ATOMIC_RELAXED);
}

void preload_function_set(struct preload *p, uint32_t row, bool counted, bool left_out)
{
	uint32_t at = row - p->first_row;

	if (at >= p->rows || !p->wanted[at])
		return;
	__atomic_store_n(&p->setup->fn[at].counted, counted, __ATOMIC_RELAXED);
	__atomic_store_n(&p->setup->fn[at].unused, left_out, __ATOMIC_RELAXED);
}

uint32_t preload_missed_cnt(const struct preload *p)
{
	return p->missed;
}
