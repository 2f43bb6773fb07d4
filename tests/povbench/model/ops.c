/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The operations of struct comm on the model. A rank that waits leaves its core to others. So ranks
 * that share a core behave like those of a virtualized MPI (Nigay et al. 2020, section 2.1). A rank
 * is in a communication call from its first call until it computes.
 */
#include "model/sim.h"

#include <math.h>
#include <stdlib.h>

#include "lib/log.h"

#define COLD_COMPUTE_NS 1e6
#define CONTEXT_MIX 0x9e3779b97f4a7c15ull

static struct model_comm *model_comm_of(struct comm *c)
{
	return c->impl;
}

static struct sim *sim_of(struct comm *c)
{
	return model_comm_of(c)->rank->sim;
}

/* ---- clocks, computation ---- */

static int op_node(struct comm *c)
{
	const struct model_settings *s = &sim_of(c)->set;
	int idx = model_comm_of(c)->rank->idx;

	return s->node_blocks ? idx * s->nodes / s->ranks : idx % s->nodes;
}

static uint64_t op_now_ns(struct comm *c)
{
	struct sim *sim = sim_of(c);
	double node = op_node(c);

	core_use(sim, sim->set.clock_ns);
	return (uint64_t)llround(sim->now_ns * (1 + node * sim->set.clock_drift) +
				 node * sim->set.clock_skew_ns);
}

static uint64_t op_cpu_ns(struct comm *c)
{
	return (uint64_t)llround(model_comm_of(c)->rank->cpu_ns);
}

static double op_wtime(struct comm *c)
{
	return (double)op_now_ns(c) / 1e9 * sim_of(c)->set.wtime_pace;
}

static uint64_t op_core_pov_ns(struct comm *c)
{
	return (uint64_t)llround(model_comm_of(c)->rank->core->section_ns);
}

static void op_section(struct comm *c, bool begin)
{
	model_comm_of(c)->rank->section = begin;
}

static void op_compute(struct comm *c, const struct compute *how, uint64_t ns)
{
	struct sim *sim = sim_of(c);
	double longer = 1 + sim->set.steal;

	if (how->kind == COMPUTE_DEADLINE)
		core_compute(sim, (double)ns, 1 / longer, true);
	else
		core_compute(sim, (double)ns * longer, 1 / longer, false);
	model_comm_of(c)->rank->cold_ns = sim->set.cold_ns * fmin(1, (double)ns / COLD_COMPUTE_NS);
}

static void op_sleep(struct comm *c, uint64_t ns)
{
	struct sim *sim = sim_of(c);

	core_leave(sim);
	task_sleep(sim, (double)ns);
	core_enter(sim);
}

static int op_pin(struct comm *c, int core)
{
	struct rank *rank = model_comm_of(c)->rank;
	struct sim *sim = rank->sim;
	int nodes = sim->set.nodes, cores = sim->set.ranks / nodes;
	int own = rank->idx / sim->set.ranks_per_core;

	core_leave(sim);
	transfers_update(sim, rank->core);
	rank->core = &sim->cores[core < 0 ? own : core % cores * nodes + op_node(c)];
	core_enter(sim);
	transfers_update(sim, rank->core);
	return cores;
}

/* ---- requests ---- */

static void cold_call(struct comm *c)
{
	struct rank *rank = model_comm_of(c)->rank;
	double ns = rank->cold_ns;

	rank->cold_ns = 0;
	core_use(rank->sim, ns);
}

/*
 * A communication thread that shares its core with a load thread enters blocking calls late. The
 * first call after a computation finds cold caches.
 */
static void call_begin(struct comm *c)
{
	struct rank *rank = model_comm_of(c)->rank;

	if (rank->load_cnt >= rank->sim->set.cores)
		task_sleep(rank->sim, rank->sim->set.load_delay_ns);
	cold_call(c);
}

static void op_send(struct comm *c, const struct comm_msg *m, int peer, int tag)
{
	struct request r = {0};

	call_begin(c);
	request_send_begin(model_comm_of(c), &r, m, peer, tag, false);
	request_wait(sim_of(c), &r);
}

static void op_recv(struct comm *c, const struct comm_msg *m, int peer, int tag)
{
	struct request r = {0};

	call_begin(c);
	request_recv_begin(model_comm_of(c), &r, m, peer, tag);
	request_wait(sim_of(c), &r);
}

/* No preparation is needed. */
static void op_msg_prepare(struct comm *c, const struct comm_msg *m)
{
}

static void op_requests_prepare(struct comm *c, struct comm_request *r, int cnt)
{
}

static struct request *request_new(struct comm_request *out)
{
	struct request *r = xcalloc(1, sizeof(*r));

	out->word[0] = (uint64_t)(uintptr_t)r;
	out->word[1] = 0;
	return r;
}

static struct request *request_of(const struct comm_request *r)
{
	return (struct request *)(uintptr_t)r->word[0];
}

static void op_isend(struct comm *c, const struct comm_msg *m, int peer, int tag,
		     struct comm_request *out)
{
	cold_call(c);
	request_send_begin(model_comm_of(c), request_new(out), m, peer, tag, true);
}

static void op_irecv(struct comm *c, const struct comm_msg *m, int peer, int tag,
		     struct comm_request *out)
{
	cold_call(c);
	request_recv_begin(model_comm_of(c), request_new(out), m, peer, tag);
}

static void request_drop(struct comm_request *out)
{
	struct request *r = request_of(out);

	if (r->persistent)
		return;
	free(r->coll);
	free(r);
	out->word[0] = 0;
}

static void agent_main(void *arg);

static void coll_begin(struct request *r)
{
	if (!r->coll || r->coll_begun)
		return;
	r->coll_begun = true;
	task_new(r->rank, agent_main, r->coll, true);
	/* The first step happens in this call, before the caller computes. */
	task_pass(r->rank->sim);
}

static void op_waitall(struct comm *c, struct comm_request *r, int cnt)
{
	int i;

	call_begin(c);
	for (i = 0; i < cnt; i++) {
		if (!request_of(&r[i]))
			continue;
		coll_begin(request_of(&r[i]));
		request_wait(sim_of(c), request_of(&r[i]));
		request_drop(&r[i]);
	}
}

static void op_wait(struct comm *c, struct comm_request *r)
{
	op_waitall(c, r, 1);
}

static bool op_test(struct comm *c, struct comm_request *r)
{
	struct sim *sim = sim_of(c);

	core_use(sim, sim->set.test_ns);
	if (!request_of(r))
		return true;
	coll_begin(request_of(r));
	if (request_of(r)->pending)
		return false;
	request_wait(sim, request_of(r));
	request_drop(r);
	return true;
}

/* ---- persistent, partitioned ---- */

static void init_request(struct comm *c, enum request_kind kind, const struct comm_msg *m,
			 int parts, int peer, int tag, struct comm_request *out)
{
	struct model_comm *mc = model_comm_of(c);
	struct request *r = request_new(out);
	bool send = kind == REQUEST_SEND;

	if (parts && m->bytes % (size_t)parts)
		die("model: %zu bytes are not %d equal parts", m->bytes, parts);
	r->kind = kind;
	r->persistent = true;
	r->parts = parts;
	r->rank = mc->rank;
	r->msg = *m;
	r->env = (struct envelope){mc->context, send ? c->rank : peer, send ? peer : c->rank, tag};
}

static void op_send_init(struct comm *c, const struct comm_msg *m, int peer, int tag,
			 struct comm_request *out)
{
	init_request(c, REQUEST_SEND, m, 0, peer, tag, out);
}

static void op_recv_init(struct comm *c, const struct comm_msg *m, int peer, int tag,
			 struct comm_request *out)
{
	init_request(c, REQUEST_RECV, m, 0, peer, tag, out);
}

static void op_psend_init(struct comm *c, const struct comm_msg *m, int parts, int peer, int tag,
			  struct comm_request *out)
{
	init_request(c, REQUEST_SEND, m, parts, peer, tag, out);
}

static void op_precv_init(struct comm *c, const struct comm_msg *m, int parts, int peer, int tag,
			  struct comm_request *out)
{
	init_request(c, REQUEST_RECV, m, parts, peer, tag, out);
}

static void op_start(struct comm *c, struct comm_request *r)
{
	cold_call(c);
	request_start(request_of(r));
}

static void op_pready(struct comm *c, struct comm_request *r, int part)
{
	request_part_ready(request_of(r), part);
}

static void op_request_free(struct comm *c, struct comm_request *r)
{
	free(request_of(r));
	r->word[0] = 0;
}

/* ---- collective ---- */

uint64_t model_context_next(struct model_comm *mc)
{
	return (mc->context + ++mc->made_cnt) * CONTEXT_MIX ^ mc->context >> 29;
}

static struct collective *collective_new(struct comm *c, enum comm_coll op, const void *in,
					 void *out, size_t bytes, int root)
{
	struct collective *coll = xcalloc(1, sizeof(*coll));
	struct model_comm *mc = model_comm_of(c);

	model_comm_init(&coll->mc, mc->rank, c->size, model_context_next(mc));
	coll->op = op;
	coll->in = in;
	coll->out = out;
	coll->bytes = bytes;
	coll->root = root;
	return coll;
}

static void op_coll(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes,
		    int root)
{
	struct collective *coll = collective_new(c, op, in, out, bytes, root);

	call_begin(c);
	collective_run(coll);
	free(coll);
}

static void agent_main(void *arg)
{
	struct collective *coll = arg;
	struct request *done = coll->done;

	collective_run(coll);
	done->pending--;
	rank_wake(done->rank);
}

static void op_icoll(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes,
		     int root, struct comm_request *req)
{
	struct request *r = request_new(req);

	cold_call(c);
	r->kind = REQUEST_COLL;
	r->rank = model_comm_of(c)->rank;
	r->active = true;
	r->pending = 1;
	r->coll = collective_new(c, op, in, out, bytes, root);
	r->coll->done = r;
	if (!r->rank->sim->set.coll_in_wait)
		coll_begin(r);
}

/* ---- threads ---- */

struct thread_group {
	void (*fn)(void *arg, int thread);
	void *arg;
	int next, left;
};

static void group_work(struct sim *sim, struct thread_group *group)
{
	struct core *core;
	int thread = group->next++;

	core_enter(sim);
	group->fn(group->arg, thread);
	core_leave(sim);
	/* A finished thread is in no call. */
	core = sim->current->rank->core;
	core->lanes--;
	group->left--;
	transfers_update(sim, core);
	rank_wake(sim->current->rank);
}

struct group_thread {
	struct sim *sim;
	struct thread_group *group;
};

static void group_main(void *arg)
{
	struct group_thread t = *(struct group_thread *)arg;

	free(arg);
	group_work(t.sim, t.group);
}

static void op_threads_run(struct comm *c, int n, void (*fn)(void *arg, int thread), void *arg)
{
	struct thread_group group = {fn, arg, 0, n};
	struct rank *rank = model_comm_of(c)->rank;
	struct group_thread *t;
	int i;

	core_leave(rank->sim);
	rank->core->lanes += n - 1;
	for (i = 1; i < n; i++) {
		t = xmalloc(sizeof(*t));
		*t = (struct group_thread){rank->sim, &group};
		task_new(rank, group_main, t, false);
	}
	group_work(rank->sim, &group);
	while (group.left)
		task_block(rank->sim);
	rank->core->lanes++;
	core_enter(rank->sim);
}

static void op_load_begin(struct comm *c, const struct comm_load *load)
{
	model_comm_of(c)->rank->load_cnt = load->threads;
}

static void op_load_end(struct comm *c)
{
	model_comm_of(c)->rank->load_cnt = 0;
}

static void op_progress_begin(struct comm *c)
{
	model_comm_of(c)->rank->core->pollers++;
}

static void op_progress_end(struct comm *c)
{
	model_comm_of(c)->rank->core->pollers--;
}

/* ---- communicators, marks ---- */

void model_comm_init(struct model_comm *mc, struct rank *rank, int size, uint64_t context)
{
	*mc = (struct model_comm){.rank = rank, .context = context};
	mc->comm = (struct comm){&model_ops, rank->idx, size, rank->sim->set.features, mc};
}

static struct comm *op_first(struct comm *c, int n)
{
	struct model_comm *mc = model_comm_of(c), *made;
	uint64_t context = model_context_next(mc);

	if (c->rank >= n)
		return NULL;
	made = xmalloc(sizeof(*made));
	model_comm_init(made, mc->rank, n, context);
	return &made->comm;
}

static void op_free(struct comm *c)
{
	free(model_comm_of(c));
}

static void op_mark_begin(struct comm *c, int level, const char *name)
{
}

static void op_mark_end(struct comm *c, int level)
{
}

const struct comm_ops model_ops = {
	.now_ns = op_now_ns,
	.cpu_ns = op_cpu_ns,
	.wtime = op_wtime,
	.rank_pov_ns = op_cpu_ns,
	.core_pov_ns = op_core_pov_ns,
	.section = op_section,
	.compute = op_compute,
	.msg_prepare = op_msg_prepare,
	.requests_prepare = op_requests_prepare,
	.requests_release = op_requests_prepare,
	.send = op_send,
	.recv = op_recv,
	.isend = op_isend,
	.irecv = op_irecv,
	.wait = op_wait,
	.waitall = op_waitall,
	.test = op_test,
	.send_init = op_send_init,
	.recv_init = op_recv_init,
	.start = op_start,
	.request_free = op_request_free,
	.psend_init = op_psend_init,
	.precv_init = op_precv_init,
	.pready = op_pready,
	.window_new = rma_window_new,
	.window_free = rma_window_free,
	.lock = rma_lock,
	.unlock = rma_unlock,
	.put = rma_put,
	.get = rma_get,
	.flush = rma_flush,
	.coll = op_coll,
	.icoll = op_icoll,
	.load_begin = op_load_begin,
	.load_end = op_load_end,
	.progress_begin = op_progress_begin,
	.progress_end = op_progress_end,
	.threads_run = op_threads_run,
	.first = op_first,
	.free = op_free,
	.mark_begin = op_mark_begin,
	.mark_end = op_mark_end,
	.pin = op_pin,
	.node = op_node,
	.sleep = op_sleep,
};
