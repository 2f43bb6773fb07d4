/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Answers processes that hook their own MPI functions (their plan, memory, and what they missed) or
 * are about to wait for probes.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/run_socket.h"
#include "record/kernel.h"
#include "record/preload/preload_internal.h"
#include "target/code_file.h"
#include "target/probes/code_turn.h"
#include "target/proc.h"

/* Silent clients are dropped after this time. */
#define SILENT_NS 10000000000ull       /* clients of the command's user, who wait as long for us */
#define SILENT_FULL_NS 500000000ull    /* the same clients, if there is no room for others */
#define SILENT_STRANGER_NS 20000000ull /* clients of other users: any user may connect */

/* Processes in other namespaces would record other times and numbers of threads. */
static bool is_in_our_namespaces(pid_t pid)
{
	return proc_same_namespace(pid, "time") && proc_same_namespace(pid, "pid");
}

static int peer_get(int conn, struct ucred *peer)
{
	socklen_t bytes = sizeof(*peer);

	return getsockopt(conn, SOL_SOCKET, SO_PEERCRED, peer, &bytes) ? -errno : 0;
}

/* Finds the process at the other end, which must be recorded. 0 or -errno. */
static int asker_find(const struct preload *p, int conn, uint32_t *tgid)
{
	struct ucred peer;
	uint32_t target;
	int err = peer_get(conn, &peer);

	if (err)
		return err;
	*tgid = (uint32_t)peer.pid;
	return bpf_map_lookup_elem(p->opt.kernel->targets_fd, tgid, &target) ? -ESRCH : 0;
}

static bool is_of_user(const struct preload *p, int conn)
{
	struct ucred peer;

	return !peer_get(conn, &peer) && peer.uid == p->opt.uid;
}

/*
 * Makes a target of the process at the other end if it got the command's environment, although the
 * command has not started it (srun has a daemon do that). 0 or -errno.
 */
static int asker_adopt(struct preload *p, int conn, uint32_t collector)
{
	struct ucred peer;
	int err = peer_get(conn, &peer);

	if (err)
		return err;
	if (collector != (uint32_t)getpid() || !is_of_user(p, conn) ||
	    !is_in_our_namespaces(peer.pid))
		return -ESRCH;
	err = p->opt.adopt(p->opt.ctx, peer.pid);
	if (!err && poll(&(struct pollfd){.fd = conn}, 1, 0) > 0) { /* it has ended meanwhile */
		bpf_map_delete_elem(p->opt.kernel->targets_fd, &peer.pid);
		bpf_map_delete_elem(p->opt.kernel->preload_loaded_fd, &peer.pid);
		bpf_map_delete_elem(p->opt.kernel->waiting_fd, &peer.pid);
		err = -ESRCH;
	}
	return err;
}

/* Finds the process at the other end among those that are recorded, or adds it. 0 or -errno. */
static int asker_join(struct preload *p, struct asking *from, const struct pov_preload_request *r)
{
	int err = asker_find(p, from->conn, &from->tgid);

	return err == -ESRCH ? asker_adopt(p, from->conn, r->collector) : err;
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
		.since_ns = clock_now_ns(),
	};
	int err;

	if (!is_in_our_namespaces((pid_t)tgid))
		return -EXDEV;
	if (pool) /* the process never took it */
		preload_pool_end(p, pool);
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

/*
 * Requests probes, once, for all functions of a library that the process cannot hook for lack of
 * room. A probe is in all copies of the library in the process, so no copy may have hooks.
 */
static void library_probe(struct preload *p, struct preload_pool *pool, const struct library *lib)
{
	const char *path = json_get_text(lib->meta, "path");
	pid_t pid = (pid_t)pool->who.tgid;
	uint16_t *row;

	if (pool->probed[lib->id])
		return;
	pool->probed[lib->id] = true;
	if (pool->lib[lib->id]) {
		log_warn("process %d has too many copies of %s: calls of some are not recorded",
			 pid, path);
		return;
	}
	log_warn("process %d: %s: no room for another MPI library; its functions get probes", pid,
		 path);
	row = xcalloc(lib->hook_cnt, sizeof(*row));
	for (size_t i = 0; i < lib->hook_cnt; i++)
		row[i] = lib->hooks[i].row;
	p->missed += (uint32_t)p->opt.unserved(p->opt.ctx, pid, lib, row, lib->hook_cnt);
	free(row);
}

struct planning {
	struct preload *p;
	struct preload_pool *pool;
	struct pov_preload_answer *answer;
};

static void library_plan(void *ctx, const struct library_place *at)
{
	const struct library *lib = at->file->lib;
	struct planning *pl = ctx;
	struct pov_preload_answer *a = pl->answer;

	if (!lib->hook_cnt)
		return;
	if (pl->pool->probed[lib->id] || a->libraries == POV_PRELOAD_LIBRARIES ||
	    !hooks_put(pl->p, lib)) {
		library_probe(pl->p, pl->pool, lib);
		return;
	}
	pl->pool->lib[lib->id] = true;
	a->library[a->libraries++] = (struct pov_preload_library){
		.bias = at->bias,
		.code = at->map->start,
		.code_bytes = at->map->off ? at->map->end - at->map->start : 0,
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
	int err = asker_join(p, from, r);

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

/* Requests probes for functions that should have been hooked but do not begin with a jump. */
static void library_missing(void *ctx, const struct library_place *at)
{
	const struct library *lib = at->file->lib;
	struct missing *m = ctx;
	uint16_t *row = xcalloc(lib->hook_cnt + 1, sizeof(*row));
	size_t cnt = 0;
	uint8_t byte;

	for (size_t i = 0; i < lib->hook_cnt; i++) {
		const struct pov_hook *h = &lib->hooks[i];

		if (pread(m->memory, &byte, 1, (off_t)(at->bias + h->address)) != 1 ||
		    byte != 0xe9 || h->code[0] == 0xe9)
			row[cnt++] = h->row;
	}
	if (cnt)
		cnt = m->p->opt.unserved(m->p->opt.ctx, m->pid, lib, row, cnt);
	if (cnt)
		log_warn("process %d: %zu functions are recorded by probes instead of by the "
			 "process itself: their code cannot be changed, or something else has "
			 "changed it",
			 m->pid, cnt);
	m->p->missed += (uint32_t)cnt;
	free(row);
}

static void missing_probe(struct preload *p, pid_t pid)
{
	struct missing m = {p, pid, -1};
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", proc_memory_of(pid));
	m.memory = open(path, O_RDONLY | O_CLOEXEC);
	if (m.memory < 0)
		return;
	p->opt.libraries(p->opt.ctx, pid, library_missing, &m);
	close(m.memory);
}

static void ready_answer(struct preload *p, struct asking *from)
{
	struct pov_preload_answer a = {0};

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
	preload_pool_read(p, pool);
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

static int process_taken(struct preload *p, struct asking *from)
{
	int err = asker_find(p, from->conn, &from->tgid);

	if (!err)
		p->opt.taken(p->opt.ctx, (pid_t)from->tgid);
	return err;
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
	else if (r->wish == POV_PRELOAD_TAKEN)
		a.status = process_taken(p, from);
	else if (r->wish == POV_PRELOAD_PROBES)
		a.status = asker_join(p, from, r);
	else
		a.status = -EINVAL;
	if (!from->then)
		answer_send(from->conn, &a, NULL, 0);
}

static void asking_drop(struct preload *p, unsigned int i)
{
	if (p->asking[i].planned) /* ends the process's turn to write jumps */
		code_turn_jumps_end(p->turn, (pid_t)p->asking[i].tgid);
	close(p->asking[i].conn);
	p->asking[i] = p->asking[--p->asking_cnt];
}

void preload_refuse(struct preload *p)
{
	while (p->asking_cnt)
		asking_drop(p, p->asking_cnt - 1);
	if (p->fd >= 0) {
		unlink(p->path);
		close(p->fd);
	}
	if (p->far_fd >= 0)
		close(p->far_fd);
	p->fd = p->far_fd = -1;
}

static void asking_read(struct preload *p, unsigned int i)
{
	struct pov_preload_program r = {};
	ssize_t n = recv(p->asking[i].conn, &r, sizeof(r), MSG_DONTWAIT);
	ssize_t bytes = r.request.wish == POV_PRELOAD_PROGRAM ? sizeof(r) : sizeof(r.request);

	if (n < 0 && errno == EAGAIN)
		return;
	p->asking[i].since_ns = clock_now_ns();
	r.path[sizeof(r.path) - 1] = '\0';
	if (n == bytes && r.request.magic == POV_PRELOAD_MAGIC)
		request_answer(p, &p->asking[i], &r);
	else
		asking_drop(p, i);
}

static bool asking_is_stale(const struct preload *p, const struct asking *a)
{
	uint64_t silent_ns = clock_now_ns() - a->since_ns;
	uint64_t most_ns = p->asking_cnt < ASKING_MAX ? SILENT_NS : SILENT_FULL_NS;
	uint32_t tgid;

	return (silent_ns > most_ns && !a->then && !a->planned) ||
	       (silent_ns > SILENT_STRANGER_NS && !is_of_user(p, a->conn) &&
		asker_find(p, a->conn, &tgid));
}

unsigned int preload_poll(const struct preload *p, struct pollfd *out)
{
	unsigned int cnt = 0;

	for (unsigned int i = 0; i < p->asking_cnt; i++)
		out[cnt++] = (struct pollfd){.fd = p->asking[i].conn, .events = POLLIN};
	if (p->asking_cnt == ASKING_MAX) /* new clients wait in the queue */
		return cnt;
	out[cnt++] = (struct pollfd){.fd = p->fd, .events = POLLIN};
	out[cnt++] = (struct pollfd){.fd = p->far_fd, .events = POLLIN};
	return cnt;
}

/* fd may be below 0. */
static void asking_accept(struct preload *p, int fd)
{
	int conn;

	while (p->asking_cnt < ASKING_MAX &&
	       (conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		p->asking[p->asking_cnt++] = (struct asking){.conn = conn,
							     .since_ns = clock_now_ns()};
}

/* Answers a client after all its files have been inspected. */
static void asking_settled(struct preload *p, struct asking *a)
{
	void (*then)(struct preload *, struct asking *) = a->then;

	if (then == plan_answer && !code_turn_jumps(p->turn, (pid_t)a->tgid))
		return;
	a->then = NULL;
	a->since_ns = clock_now_ns();
	then(p, a);
	if (then == plan_answer && !a->planned)
		code_turn_jumps_end(p->turn, (pid_t)a->tgid);
}

void preload_work(struct preload *p, const struct pollfd *polled, unsigned int cnt)
{
	unsigned int asked = p->asking_cnt;

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
		preload_worlds_answer(p);
	for (unsigned int i = asked; i < cnt; i++)
		if (polled[i].revents)
			asking_accept(p, polled[i].fd);
}
