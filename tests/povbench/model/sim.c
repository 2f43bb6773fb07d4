/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Virtual time: a list of events, tasks that run until they wait for an event, and cores that give
 * their lanes to tasks in request order. The code here knows nothing of messages. It only reports
 * to them when a core's tasks leave and enter communication calls.
 */
/* Its longjmp refuses to change to another stack. */
#undef _FORTIFY_SOURCE
#include "model/sim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/log.h"

#define STACK_BYTES ((size_t)1 << 20)
#define GUARD_BYTES ((size_t)1 << 16)
#define DISTURBED_PARTS 8 /* parts of a computation; the pace is constant in each */
#define RANK_PHASE 0.37	  /* offset between neighbor ranks' drift and ticks, in periods */

void sim_at(struct sim *sim, double at_ns, void (*fn)(struct sim *, void *, uint64_t), void *arg,
	    uint64_t generation)
{
	struct event *e = xmalloc(sizeof(*e)), **at = &sim->events;

	while (*at && (*at)->at_ns <= at_ns)
		at = &(*at)->next;
	*e = (struct event){*at, at_ns, fn, arg, generation};
	*at = e;
	sim->order++;
}

/* ---- tasks ---- */

/* swapcontext() would also set the signal mask, by a system call each time. */
static void context_switch(struct context *from, struct context *to)
{
	if (_setjmp(from->left))
		return;
	if (!to->entered) {
		to->entered = true;
		setcontext(&to->begin);
	}
	_longjmp(to->left, 1);
}

/* makecontext() passes only ints, so the pointer comes in two halves. */
static void task_main(unsigned int high, unsigned int low)
{
	struct task *t = (struct task *)((uintptr_t)high << 32 | (uintptr_t)low);

	t->fn(t->arg);
	t->finished = true;
	context_switch(&t->context, &t->sim->context);
}

static void task_free(struct task *t)
{
	munmap(t->stack, t->stack_bytes);
	free(t);
}

/*
 * Frees a finished task at once, since threads and agents come and go. No event refers to a
 * finished task.
 */
static void task_reap(struct sim *sim, struct task *t)
{
	struct task **at = &sim->tasks;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	task_free(t);
}

static void task_resume(struct sim *sim, void *arg, uint64_t generation)
{
	struct task *t = arg;

	sim->current = t;
	context_switch(&sim->context, &t->context);
	sim->current = NULL;
	if (t->finished)
		task_reap(sim, t);
}

static void task_yield(struct sim *sim)
{
	struct task *t = sim->current;

	context_switch(&t->context, &sim->context);
}

struct task *task_new(struct rank *rank, void (*fn)(void *arg), void *arg, bool agent)
{
	struct task *t = xcalloc(1, sizeof(*t));
	struct sim *sim = rank->sim;

	t->stack_bytes = STACK_BYTES;
	t->stack = mmap(NULL, t->stack_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (t->stack == MAP_FAILED)
		die("selftest: no memory for a rank's stack: %s", strerror(errno));
	mprotect(t->stack, GUARD_BYTES, PROT_NONE);
	t->sim = sim;
	t->rank = rank;
	t->fn = fn;
	t->arg = arg;
	t->agent = agent;
	getcontext(&t->context.begin);
	t->context.begin.uc_stack.ss_sp = (char *)t->stack + GUARD_BYTES;
	t->context.begin.uc_stack.ss_size = t->stack_bytes - GUARD_BYTES;
	makecontext(&t->context.begin, (void (*)(void))task_main, 2,
		    (unsigned int)((uintptr_t)t >> 32), (unsigned int)(uintptr_t)t);
	t->next = sim->tasks;
	sim->tasks = t;
	sim_at(sim, sim->now_ns, task_resume, t, 0);
	return t;
}

void task_sleep(struct sim *sim, double ns)
{
	double at_ns = sim->now_ns + ns;

	if (ns <= 0)
		return;
	/* No other event happens before that. */
	if (!sim->events || at_ns < sim->events->at_ns) {
		sim->now_ns = at_ns;
		return;
	}
	sim_at(sim, at_ns, task_resume, sim->current, 0);
	task_yield(sim);
}

void task_pass(struct sim *sim)
{
	sim_at(sim, sim->now_ns, task_resume, sim->current, 0);
	task_yield(sim);
}

void task_block(struct sim *sim)
{
	sim->current->blocked = true;
	task_yield(sim);
}

void task_wake(struct task *t)
{
	if (!t->blocked)
		return;
	t->blocked = false;
	sim_at(t->sim, t->sim->now_ns, task_resume, t, 0);
}

void rank_wake(struct rank *rank)
{
	struct task *t;

	for (t = rank->sim->tasks; t; t = t->next) {
		if (t->rank == rank)
			task_wake(t);
	}
}

/* ---- cores ---- */

bool core_attended(const struct core *core)
{
	return core->pollers || core->computing < core->lanes;
}

static void core_queue(struct core *core, struct task *t)
{
	t->queue_next = NULL;
	if (core->first)
		core->last->queue_next = t;
	else
		core->first = t;
	core->last = t;
}

static bool core_waits(const struct core *core, const struct task *t)
{
	const struct task *q;

	for (q = core->first; q; q = q->queue_next) {
		if (q == t)
			return true;
	}
	return false;
}

/* Waiting tasks get lanes first. A task that leaves and returns queues after them. */
static void core_grant(struct core *core)
{
	struct task *t;

	while (core->first && core->running < core->lanes) {
		t = core->first;
		core->first = t->queue_next;
		core->running++;
		task_wake(t);
	}
}

void core_enter(struct sim *sim)
{
	struct task *t = sim->current;
	struct core *core = t->rank->core;

	if (t->agent)
		return;
	core_queue(core, t);
	core_grant(core);
	while (core_waits(core, t))
		task_block(sim);
}

void core_leave(struct sim *sim)
{
	struct core *core = sim->current->rank->core;

	if (sim->current->agent)
		return;
	core->running--;
	core_grant(core);
}

/*
 * Lets other tasks of the core run. If there are none, the task's messages must not see a moment
 * without computation.
 */
static void core_rotate(struct sim *sim)
{
	struct core *core = sim->current->rank->core;

	if (!core->first)
		return;
	core->computing--;
	transfers_update(sim, core);
	core_leave(sim);
	core_enter(sim);
	core->computing++;
	transfers_update(sim, core);
}

static void core_compute_evenly(struct sim *sim, double ns, double cpu_share, bool deadline)
{
	struct rank *rank = sim->current->rank;
	double end_ns = sim->now_ns + ns, step_ns, left_ns = ns;

	rank->core->computing++;
	transfers_update(sim, rank->core);
	while (left_ns > 0) {
		step_ns = left_ns;
		if (sim->set.slice_ns > 0 && sim->set.slice_ns < left_ns)
			step_ns = sim->set.slice_ns;
		task_sleep(sim, step_ns);
		rank->cpu_ns += step_ns * cpu_share;
		if (rank->section)
			rank->core->section_ns += step_ns * cpu_share;
		left_ns -= step_ns;
		if (left_ns <= 0)
			break;
		core_rotate(sim);
		if (deadline)
			left_ns = end_ns - sim->now_ns;
	}
	rank->core->computing--;
	transfers_update(sim, rank->core);
}

static bool is_disturbed(const struct model_settings *s)
{
	return s->compute_drift > 0 || s->compute_noise > 0 || s->tick_ns > 0 || s->poll_slow > 0;
}

/* Whether a rank on another core waits in a call. */
static bool somebody_polls(const struct sim *sim, const struct rank *rank)
{
	int i;

	for (i = 0; i < sim->set.ranks; i++) {
		if (sim->ranks[i].core != rank->core && core_attended(sim->ranks[i].core))
			return true;
	}
	return false;
}

static double noise(struct sim *sim)
{
	/* Knuth's MMIX generator; its high bits are the good ones. */
	sim->random = sim->random * 6364136223846793005u + 1442695040888963407u;
	return sim->set.compute_noise * (double)(sim->random >> 40) * 0x1p-24;
}

static double ticks_until(const struct model_settings *s, const struct rank *rank, double at_ns)
{
	return s->tick_ns > 0 ? floor(at_ns / s->tick_period_ns + RANK_PHASE * rank->idx) : 0;
}

/* Returns how long this amount of work takes from now on. */
static double disturbed_ns(const struct sim *sim, const struct rank *rank, double ns)
{
	const struct model_settings *s = &sim->set;
	double ticks = ticks_until(s, rank, sim->now_ns);

	if (s->compute_drift > 0)
		ns *= 1 + s->compute_drift *
				  sin(2 * M_PI *
				      (sim->now_ns / s->drift_period_ns + RANK_PHASE * rank->idx));
	if (s->poll_slow > 0 && somebody_polls(sim, rank))
		ns *= 1 + s->poll_slow;
	return ns + s->tick_ns * (ticks_until(s, rank, sim->now_ns + ns) - ticks);
}

/* Computes in parts. Between them, other ranks may begin and end polling. */
static void core_compute_disturbed(struct sim *sim, double ns, double cpu_share)
{
	struct rank *rank = sim->current->rank;
	double part_ns, longer = 1 + noise(sim);
	int i;

	rank->core->computing++;
	transfers_update(sim, rank->core);
	for (i = 0; i < DISTURBED_PARTS; i++) {
		part_ns = disturbed_ns(sim, rank, ns * longer / DISTURBED_PARTS);
		task_sleep(sim, part_ns);
		rank->cpu_ns += part_ns * cpu_share;
	}
	rank->core->computing--;
	transfers_update(sim, rank->core);
}

void core_compute(struct sim *sim, double ns, double cpu_share, bool deadline)
{
	if (!deadline && is_disturbed(&sim->set)) {
		core_compute_disturbed(sim, ns, cpu_share);
		return;
	}
	core_compute_evenly(sim, ns, cpu_share, deadline);
}

void core_use(struct sim *sim, double ns)
{
	sim->current->rank->cpu_ns += ns;
	task_sleep(sim, ns);
}

/* ---- a run ---- */

static void rank_main(void *arg)
{
	struct rank *rank = arg;
	struct model_comm mc;

	model_comm_init(&mc, rank, rank->sim->set.ranks, 1);
	rank->comm = &mc.comm;
	core_enter(rank->sim);
	rank->err = rank->sim->body(&mc.comm, rank->sim->ctx);
	core_leave(rank->sim);
}

static void sim_init(struct sim *sim, const struct model_settings *s)
{
	int i;

	sim->set = *s;
	sim->random = s->seed;
	sim->ranks = xcalloc((size_t)s->ranks, sizeof(*sim->ranks));
	sim->cores = xcalloc((size_t)s->ranks, sizeof(*sim->cores));
	for (i = 0; i < s->ranks; i++) {
		sim->cores[i].lanes = 1;
		sim->ranks[i] = (struct rank){.sim = sim, .idx = i};
		sim->ranks[i].core = &sim->cores[i / s->ranks_per_core];
		task_new(&sim->ranks[i], rank_main, &sim->ranks[i], false);
	}
}

static int sim_result(struct sim *sim)
{
	int i, err = 0;

	for (i = sim->set.ranks; i-- > 0;) {
		if (sim->ranks[i].err)
			err = sim->ranks[i].err;
	}
	if (sim->tasks) {
		log_error("model: rank %d and perhaps others wait for ever at %.0f ns",
			  sim->tasks->rank->idx, sim->now_ns);
		err = -EDEADLK;
	}
	return err;
}

int model_run(const struct model_settings *s, int (*body)(struct comm *c, void *ctx), void *ctx)
{
	struct sim sim = {.body = body, .ctx = ctx, .context.entered = true};
	struct event *e;
	struct task *t;
	int err;

	sim_init(&sim, s);
	while ((e = sim.events)) {
		sim.events = e->next;
		if (e->at_ns > sim.now_ns)
			sim.now_ns = e->at_ns;
		e->fn(&sim, e->arg, e->generation);
		free(e);
	}
	err = sim_result(&sim);
	while ((t = sim.tasks)) {
		sim.tasks = t->next;
		task_free(t);
	}
	transfers_release(&sim);
	free(sim.ranks);
	free(sim.cores);
	return err;
}

void model_settings_init(struct model_settings *s)
{
	*s = (struct model_settings){
		.ranks = 2,
		.latency_ns = 1000,
		.byte_ns = 1,
		.overlap_send = 1,
		.overlap_recv = 1,
		.overlap_strided = 1,
		.slow = 1,
		.cores = 1024,
		.ranks_per_core = 1,
		.nodes = 1,
		.clock_ns = 10,
		.test_ns = 50,
		.wtime_pace = 1,
		.features = COMM_HAS_PARTITIONED | COMM_HAS_MULTIPLE | COMM_HAS_THREADS |
			    COMM_HAS_OPENMP | COMM_HAS_STEAL | COMM_HAS_RMA | COMM_HAS_POV |
			    COMM_VIRTUAL_TIME,
	};
}
