/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Threads and CPUs: who waited for whom and what both did, more threads than CPUs, moves, wake-ups, balance. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "analysis/app_time.h"
#include "analysis/contests.h"
#include "analysis/demand.h"
#include "analysis/holders.h"
#include "analysis/moves.h"
#include "base/log.h"
#include "unit/model_fixture.h"

struct world {
	struct mfix f;
	struct app_time app; /* knows when processes use MPI */
	struct contests contests;
	struct contest *list; /* contests_list, after the replay */
	uint32_t n;
	struct holders holders;
	struct demand demand;
	struct moves moves;
};

/* Ranks 0 (threads 100, 101) and 1 (200, 201), and a stranger, 300. 100 runs on CPU 0, nothing on CPU 1. */
static int world_begin(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	struct mfix *f = &w->f;

	*state = w;
	mfix_begin(f, "\"sched\":\"all\",\"rings\":2");
	mfix_functions(f);
	mfix_rank(f, 1000, 100, 0, "app");
	mfix_rank(f, 1000, 200, 1, "app");
	put_task(f, 1000, 100, 100, 0, 1, 0, "app");
	put_task(f, 1000, 101, 100, 1, 0, 0, "worker");
	put_task(f, 1000, 200, 200, 1, 0, 1, "app");
	put_task(f, 1000, 201, 200, 1, 0, 1, "worker");
	put_task(f, 1000, 300, 300, 1, 0, 0, "hog");
	app_time_init(&w->app);
	contests_init(&w->contests, &w->app.windows);
	holders_init(&w->holders);
	demand_init(&w->demand, &w->app.windows);
	moves_init(&w->moves);
	return 0;
}

static void replay(struct world *w, uint64_t end_ns)
{
	const struct model_sink *sinks[] = {&w->app.sink, &w->contests.sink, &w->holders.sink,
					    &w->demand.sink, &w->moves.sink};

	mfix_end(&w->f, end_ns);
	mfix_open(&w->f, false);
	assert_int_equal(model_run(w->f.model, sinks, sizeof(sinks) / sizeof(sinks[0])), 0);
	w->list = contests_list(&w->contests, &w->n);
}

static int world_end(void **state)
{
	struct world *w = *state;

	free(w->list);
	moves_release(&w->moves);
	demand_release(&w->demand);
	holders_release(&w->holders);
	contests_release(&w->contests);
	app_time_release(&w->app);
	mfix_release(&w->f);
	free(w);
	return 0;
}

static void put_mask(struct mfix *f, uint64_t ts, uint32_t tid, uint32_t tgid, uint64_t cpus)
{
	struct pov_affinity r = {.tgid = tgid, .nr_cpus = (uint32_t)__builtin_popcountll(cpus)};

	r.mask[0] = cpus;
	put_record(f, 0, &r, sizeof(r), POV_KIND_AFFINITY, tid, ts);
}

static const struct demand_mask *mask_of(const struct world *w, uint64_t cpus, bool all)
{
	const struct demand *a = &w->demand;

	for (uint32_t i = 0; i < a->nmask; i++)
		if (a->mask[i].cpus.word[0] == cpus && a->mask[i].all == all)
			return &a->mask[i];
	fail_msg("no mask %llx", (unsigned long long)cpus);
	return NULL;
}

/* ---- contests ---- */

/* That there is such a one, too. */
static const struct contest *find(const struct world *w, uint32_t waiter, uint32_t holder,
				  enum doing waits, enum doing holds)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->list[i].waiter->tid == waiter && w->list[i].holder->tid == holder &&
		    w->list[i].waits == waits && w->list[i].holds == holds)
			return &w->list[i];
	fail_msg("%u did not wait for %u", waiter, holder);
	return NULL;
}

/* 100 waits for a message while 101 computes on its CPU; then 101 waits while 100 is in that call and behind it. */
TEST(what_both_did)
{
	const struct contest *c;
	struct world *w = *state;
	struct mfix *f = &w->f;

	put_call_begin(f, 1500, 0, 100, 1100, 0);
	put_waking(f, 1400, 0, 100, 101, 0);
	put_switch(f, 1500, 0, 100, PREEMPTED, 101);
	put_switch(f, 2000, 0, 101, PREEMPTED, 100);
	put_call(f, 1100, 2300, 0, 100, 100, "MPI_Recv", 0, 0);
	put_switch(f, 2400, 0, 100, SLEEPS, 101);
	put_switch(f, 2500, 0, 101, SLEEPS, 0);
	replay(w, 9000);
	c = find(w, 100, 101, DOING_POLL, DOING_OWN);
	assert_int_equal(c->ns, 500);
	assert_int_equal(c->worst_from_ns, 1500);
	assert_string_equal(c->waits_in->name, "MPI_Recv");
	assert_null(c->holds_in);
	/* 100 ms of the 500 that 100 ran first, four fifths of which it polled; then 300 of 400 */
	c = find(w, 101, 100, DOING_OWN, DOING_POLL);
	assert_int_equal(c->ns, 80 + 300);
	assert_int_equal(c->cnt, 2);
	assert_string_equal(c->holds_in->name, "MPI_Recv");
	c = find(w, 101, 100, DOING_OWN, DOING_OWN);
	assert_int_equal(c->ns, 20 + 100);
	assert_int_equal(w->n, 3);
}

/* Polls that found nothing are told when they are over; what is waited in MPI_Init does not count; and what was lost is not known. */
TEST(polls_setup_and_losses)
{
	struct world *w = *state;
	struct mfix *f = &w->f;

	put_switch(f, 1200, 0, 100, PREEMPTED, 300);
	put_switch(f, 1500, 0, 300, PREEMPTED, 100);
	put_spin(f, 1100, 1900, 0, 100, 100, "MPI_Test", 0, 50, 300);
	put_call_begin(f, 100000, 0, 100, 2000, 0);
	put_switch(f, 100000, 0, 100, PREEMPTED, 300);
	put_switch(f, 100200, 0, 300, PREEMPTED, 100);
	put_call(f, 2000, 200000, 0, 100, 100, "MPI_Init", 0, 0);
	put_switch(f, 200100, 0, 100, PREEMPTED, 300);
	put_switch(f, 200250, 0, 300, PREEMPTED, 100);
	put_lost(f, 200200, 200300, 0, POV_CLASS_CALL, 1);
	replay(w, 300000);
	assert_int_equal(find(w, 100, 300, DOING_POLL, DOING_OWN)->ns, 300);
	assert_int_equal(find(w, 100, 300, DOING_UNKNOWN, DOING_OWN)->ns, 150);
	assert_int_equal(w->n, 2);
}

/* A rank that begins while it is recorded: with two threads on one CPU before MPI_Init, in it, behind it, in and behind MPI_Finalize. */
TEST(only_in_window)
{
	static const uint64_t at[] = {2000, 4000, 6000, 8000, 9500};
	const struct demand_mask *k;
	struct world *w = *state;
	struct mfix *f = &w->f;

	put_fork(f, 1100, 300, 400, 400, 300, "app");
	mfix_rank(f, 1100, 400, 2, "app");
	put_fork(f, 1200, 400, 401, 400, 400, "worker");
	put_mask(f, 1300, 400, 400, 4);
	put_mask(f, 1300, 401, 400, 4);
	put_waking(f, 1400, 0, 100, 400, 2);
	put_switch(f, 1400, 2, 0, SLEEPS, 400);
	for (int i = 0; i < 5; i++) {
		put_waking(f, at[i], 2, 400, 401, 2);
		put_switch(f, at[i] + 100 + (uint64_t)i, 2, 400, PREEMPTED, 401);
		put_switch(f, at[i] + 300, 2, 401, SLEEPS, 400);
		if (i == 1)
			put_call(f, 3000, 5000, 2, 400, 400, "MPI_Init", 0, 0);
		if (i == 3)
			put_call(f, 7000, 9000, 2, 400, 400, "MPI_Finalize", 0, 0);
	}
	replay(w, 20000);
	/* of what 400 ran then, seven parts of eighteen lay in MPI_Init */
	assert_int_equal(find(w, 401, 400, DOING_OWN, DOING_OWN)->ns, 102 - 39);
	assert_int_equal(find(w, 401, 400, DOING_OWN, DOING_WORK)->ns, 39);
	assert_int_equal(find(w, 400, 401, DOING_OWN, DOING_OWN)->ns, 300 - 102);
	assert_int_equal(w->n, 3);
	k = mask_of(w, 4, false);
	assert_int_equal(k->lost_ns,
			 300 + 300); /* that it is in MPI_Finalize is known at its end */
}

/* More stretches than are kept of a thread that has called before: of the first ones nobody knows what it did. */
TEST(too_many)
{
	uint64_t ts = 2000, unknown = 0, own = 0;
	struct world *w = *state;
	struct mfix *f = &w->f;

	put_call(f, 1100, 1200, 0, 100, 100, "MPI_Send", 0, 0);
	for (int i = 0; i < DOING_KEPT_MAX + 7; i++, ts += 20) {
		put_switch(f, ts, 0, 100, PREEMPTED, 300);
		put_switch(f, ts + 10, 0, 300, PREEMPTED, 100);
	}
	replay(w, ts);
	for (uint32_t i = 0; i < w->n; i++) {
		unknown += w->list[i].waits == DOING_UNKNOWN ? w->list[i].ns : 0;
		own += w->list[i].waits == DOING_OWN ? w->list[i].ns : 0;
	}
	assert_int_equal(unknown, 7 * 10);
	assert_int_equal(own, DOING_KEPT_MAX * 10);
}

/* ---- the same sums as holders.h, which looks back instead: on a random schedule ---- */

#define TIDS 5
#define ROUNDS 20000

struct machine {
	struct mfix *f;
	uint32_t runs[2];		       /* by CPU; 0: idle */
	int cpu[TIDS];			       /* where each waits or runs */
	enum { ASLEEP, WAITS, RUNS } is[TIDS]; /* by index */
	uint64_t ts;
};

static const uint32_t tid_of[TIDS] = {100, 101, 200, 201, 300};

static int index_of(uint32_t tid)
{
	for (int i = 0; i < TIDS; i++)
		if (tid_of[i] == tid)
			return i;
	return -1;
}

static void machine_switch(struct machine *m, int cpu, bool sleeps)
{
	int next = -1, prev = index_of(m->runs[cpu]);

	for (int i = 0, at = rand() % TIDS; i < TIDS; i++, at = (at + 1) % TIDS)
		if (m->is[at] == WAITS && m->cpu[at] == cpu)
			next = at;
	if (next < 0 && (prev < 0 || !sleeps))
		return;
	put_switch(m->f, m->ts, (uint16_t)cpu, m->runs[cpu],
		   sleeps || prev < 0 ? SLEEPS : PREEMPTED, next < 0 ? 0 : tid_of[next]);
	if (prev >= 0)
		m->is[prev] = sleeps ? ASLEEP : WAITS;
	m->runs[cpu] = next < 0 ? 0 : tid_of[next];
	if (next >= 0)
		m->is[next] = RUNS;
}

static void machine_step(struct machine *m)
{
	int i = rand() % TIDS, cpu = rand() % 2;

	m->ts += 1 + (uint64_t)(rand() % 50);
	switch (rand() % 4) {
	case 0:
		if (m->is[i] != ASLEEP)
			return;
		put_waking(m->f, m->ts, (uint16_t)cpu, m->runs[cpu], tid_of[i], (uint16_t)cpu);
		m->is[i] = WAITS;
		m->cpu[i] = cpu;
		return;
	case 1:
		if (m->is[i] != WAITS)
			return;
		put_migrate(m->f, m->ts, tid_of[i], (uint16_t)m->cpu[i], (uint16_t)!m->cpu[i]);
		m->cpu[i] = !m->cpu[i];
		return;
	default:
		machine_switch(m, cpu, rand() % 2);
	}
}

TEST(sums_of_holders)
{
	struct world *w = *state;
	struct mfix *f = &w->f;
	struct machine m = {.f = f, .ts = 1100};
	struct holder *held;
	uint32_t nheld, compared = 0;

	srand(4711);
	put_switch(f, m.ts, 0, 100, SLEEPS, 0); /* from here on it is known who runs */
	for (int i = 0; i < ROUNDS; i++)
		machine_step(&m);
	replay(w, m.ts + 10);
	held = holders_list(&w->holders, f->model, &nheld);
	for (uint32_t i = 0; i < nheld; i++) {
		const struct model_thread *t = model_thread_get(f->model, held[i].waiter);
		uint64_t ns = 0;

		for (uint32_t k = 0; k < w->n; k++)
			if (w->list[k].waiter == t && w->list[k].holder->idx == held[i].thread)
				ns += w->list[k].ns;
		assert_int_equal(ns, t->proc->is_rank ? held[i].ns : 0);
		compared += t->proc->is_rank && ns > 10000;
	}
	assert_int_equal(compared, 4 * 4); /* each of four with each of the others */
	free(held);
}

/* ---- demand ---- */

TEST(demand)
{
	const struct demand_mask *k;
	struct world *w = *state;
	struct mfix *f = &w->f;

	put_mask(f, 1050, 100, 100, 1);
	put_mask(f, 1050, 101, 100, 1);
	put_mask(f, 1050, 200, 200, 3);
	put_waking(f, 1100, 0, 100, 101, 0); /* two on CPU 0 */
	put_switch(f, 1500, 0, 100, PREEMPTED, 101);
	put_waking(f, 1600, 0, 101, 200, 0);	     /* CPU 1 is free for it */
	put_switch(f, 2000, 0, 101, PREEMPTED, 300); /* a stranger has it */
	put_switch(f, 2400, 0, 300, SLEEPS, 100);
	put_switch(f, 2600, 0, 100, SLEEPS, 101);
	replay(w, 9000);
	k = mask_of(w, 1, false);
	assert_int_equal(k->nr, 1);
	assert_int_equal(k->most, 2);
	assert_int_equal(k->lost_ns, 900 + 200);
	assert_int_equal(k->over_ns, 900 + 200);
	assert_int_equal(k->want_ns, 2 * (900 + 200));
	assert_int_equal(k->ran_ns, 950 + 6600); /* all but 400, from 1050 on */
	assert_int_equal(k->worst_ns, 900);
	assert_int_equal(k->worst_from_ns, 1100);
	assert_int_equal(demand_of_thread(&w->demand, mfix_thread(f, 101),
					  (uint32_t)(k - w->demand.mask)),
			 1100);
	assert_int_equal(mask_of(w, 3, false)->over_ns, 0);
	assert_int_equal(mask_of(w, 3, true)->over_ns, 0);
}

/* Masks that overlap: four threads on three CPUs, though none has more threads than CPUs. */
TEST(demand_overlapping)
{
	const struct demand_mask *k;
	struct world *w = *state;
	struct mfix *f = &w->f;

	put_mask(f, 1050, 100, 100, 3);
	put_mask(f, 1050, 101, 100, 3);
	put_mask(f, 1050, 200, 200, 6);
	put_mask(f, 1050, 201, 200, 6);
	put_waking(f, 1100, 0, 100, 101, 1);
	put_switch(f, 1100, 1, 0, SLEEPS, 101);
	put_waking(f, 1200, 0, 100, 200, 2);
	put_switch(f, 1200, 2, 0, SLEEPS, 200);
	put_waking(f, 1300, 0, 100, 201, 2);
	put_switch(f, 2000, 2, 200, SLEEPS, 201);
	replay(w, 9000);
	k = mask_of(w, 7, true);
	assert_int_equal(k->nr, 3);
	assert_int_equal(k->lost_ns, 700);
	assert_int_equal(mask_of(w, 3, false)->lost_ns, 0);
	assert_int_equal(mask_of(w, 6, false)->lost_ns, 0);
}

/* ---- moves and wake-ups ---- */

TEST(moves)
{
	const struct moves_thread *row;
	const struct moves_process *p;
	struct world *w = *state;
	struct mfix *f = &w->f;

	put_switch(f, 2000, 0, 100, PREEMPTED, 300);
	put_migrate(f, 2100, 100, 0, 1);
	put_switch(f, 2200, 1, 0, SLEEPS, 100);
	put_switch(f, 3000, 1, 100, PREEMPTED, 0);
	put_migrate(f, 3050, 100, 1, 0);
	put_switch(f, 3300, 0, 300, SLEEPS, 100);
	put_switch(f, 4000, 0, 100, SLEEPS, 0);
	put_waking(f, 5000, 1, 0, 100, 0);
	put_switch(f, 5000 + WAKEUP_SLOW_NS, 0, 0, SLEEPS, 100);
	put_switch(f, 200000, 0, 100, SLEEPS, 300);
	put_waking(f, 300000, 0, 300, 100, 0); /* its core is held: another trouble */
	put_switch(f, 500000, 0, 300, SLEEPS, 100);
	replay(w, 900000);
	row = &w->moves.thread[mfix_thread(f, 100)->idx];
	assert_int_equal(row->moves, 2);
	assert_int_equal(row->back, 1);
	assert_int_equal(row->moves_wait_ns, 200 + 300);
	assert_int_equal(row->worst_ns, 300);
	p = &w->moves.process[mfix_thread(f, 100)->proc->idx];
	assert_int_equal(p->wakeups.cnt, 2);
	assert_int_equal(p->wakeups.max, 200000);
	assert_int_equal(p->slow, 1);
	assert_int_equal(p->slow_ns, WAKEUP_SLOW_NS);
	assert_int_equal(p->worst_from_ns, 5000);
}

/* ---- balance ---- */

TEST(balance)
{
	struct world *w = *state;
	struct mfix *f = &w->f;

	put_call(f, 1100, 1500, 0, 100, 100, "MPI_Init", 0, 0);
	put_waking(f, 1600, 0, 100, 101, 1);
	put_switch(f, 1700, 1, 0, SLEEPS, 101);
	put_call(f, 2000, 2300, 0, 100, 100, "MPI_Recv", 0, 0);
	put_spin(f, 2400, 2450, 0, 100, 100, "MPI_Test", 0, 5, 30);
	put_switch(f, 2700, 1, 101, SLEEPS, 0);
	put_call(f, 3000, 3500, 0, 100, 100, "MPI_Finalize", 0, 0);
	put_switch(f, 4000, 0, 100, SLEEPS, 0);
	replay(w, 9000);
	/* from 1500 to 3000 but for the calls, and the other thread */
	assert_int_equal(w->app.process[mfix_thread(f, 100)->proc->idx].computed_ns,
			 1500 - 300 - 50 + 1000);
	assert_int_equal(w->app.process[mfix_thread(f, 200)->proc->idx].init_ns, 0);
	assert_false(w->app.lost);
}

EACH_TEST(world_begin, world_end);
