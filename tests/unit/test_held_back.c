/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Threads that could have run on a core that was idle. Moves and wake-ups: test_contests.c. */

#include "unit/test.h"
#include "analysis/moves.h"

#define MS 1000000ull

struct machine {
	struct model_process rank, other;
	struct model_thread thread, busy, idle;
	struct moves a;
};

static void machine_open(struct machine *w)
{
	*w = (struct machine){
		.rank = {.is_rank = true}, .other = {.idx = 1}, .idle = {.idx = 2, .idle = true}};
	w->thread.proc = &w->rank;
	w->busy.idx = 1;
	w->busy.proc = w->idle.proc = &w->other;
	moves_init(&w->a);
}

static void switch_to(struct machine *w, uint64_t ts_ns, struct model_thread *prev,
		      struct model_thread *next)
{
	w->a.sink.on_switch(&w->a,
			    &(struct model_switch){.ts_ns = ts_ns, .prev = prev, .next = next});
}

/* The thread leaves its CPU, which is idle but for what is told between, and comes back. */
static void leave(struct machine *w, uint64_t ts_ns, struct model_thread *next)
{
	switch_to(w, ts_ns, &w->thread, next);
	w->thread.state = THREAD_RUNNABLE;
	w->thread.since_ns = ts_ns;
}

static void come_back(struct machine *w, uint64_t ts_ns, struct model_thread *prev)
{
	w->a.sink.state(&w->a, &w->thread, w->thread.since_ns, ts_ns, THREAD_RUNNABLE, 0);
	switch_to(w, ts_ns, prev, &w->thread);
	w->thread.state = THREAD_RUNNING;
	w->thread.since_ns = ts_ns;
}

static const struct moves_process *process_of(struct machine *w)
{
	assert_true(w->a.nprocess > 0);
	return &w->a.process[0];
}

TEST(held_back)
{
	const struct moves_process *p;
	struct machine w;

	machine_open(&w);
	come_back(&w, 1 * MS, &w.idle);
	leave(&w, 2 * MS, &w.idle);
	come_back(&w, 5 * MS, &w.idle); /* 3 */
	leave(&w, 6 * MS, &w.idle);
	come_back(&w, 7 * MS - 1, &w.idle); /* too short */
	leave(&w, 8 * MS, &w.busy);
	switch_to(&w, 10 * MS, &w.busy, &w.idle);
	switch_to(&w, 12 * MS, &w.idle, &w.busy);
	come_back(&w, 20 * MS, &w.busy); /* 2, when the CPU was idle */
	leave(&w, 21 * MS, &w.busy);
	come_back(&w, 30 * MS, &w.busy); /* others had it */
	p = process_of(&w);
	assert_int_equal(p->held_back, 2);
	assert_int_equal(p->held_back_ns, 5 * MS);
	assert_int_equal(p->held_worst_ns, 3 * MS);
	assert_int_equal(p->held_worst_from_ns, 2 * MS);
	moves_release(&w.a);
}

/* A thread that slept when its CPU went idle, and could go on only later. */
TEST(slept)
{
	struct machine w;

	machine_open(&w);
	come_back(&w, 1 * MS, &w.idle);
	switch_to(&w, 2 * MS, &w.thread, &w.idle);
	w.thread.state = THREAD_RUNNABLE;
	w.thread.since_ns = 9 * MS;
	come_back(&w, 11 * MS, &w.idle);
	assert_int_equal(w.a.nprocess ? w.a.process[0].held_back : 0, 0);
	moves_release(&w.a);
}

/* What is moved is held back until then, and once. */
TEST(moved)
{
	const struct moves_process *p;
	struct machine w;

	machine_open(&w);
	come_back(&w, 1 * MS, &w.idle);
	leave(&w, 2 * MS, &w.idle);
	w.a.sink.migrate(
		&w.a, &(struct model_migrate){
			      .ts_ns = 6 * MS, .orig_cpu = 0, .dest_cpu = 1, .thread = &w.thread});
	come_back(&w, 9 * MS, &w.idle);
	p = process_of(&w);
	assert_int_equal(p->held_back, 1);
	assert_int_equal(p->held_back_ns, 4 * MS);
	assert_int_equal(w.a.thread[0].moves, 1);
	assert_int_equal(w.a.thread[0].moves_wait_ns, 7 * MS);
	moves_release(&w.a);
}
