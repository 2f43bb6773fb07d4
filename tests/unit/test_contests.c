/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Threads and CPUs: who waited for whom and what both did, more threads than CPUs, moves, wake-ups, balance, small messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/app_time.h"
#include "analysis/contests.h"
#include "analysis/demand.h"
#include "analysis/holders.h"
#include "analysis/moves.h"
#include "analysis/storms.h"
#include "analysis/volumes.h"
#include "base/log.h"
#include "unit/model_fixture.h"

/* Ranks 0 (threads 100, 101) and 1 (200, 201), and a stranger, 300. 100 runs on CPU 0, nothing on CPU 1. */
static void world_begin(struct mfix *f)
{
	mfix_begin(f, "\"sched\":\"all\",\"rings\":2");
	mfix_functions(f);
	mfix_rank(f, 1000, 100, 0, "app");
	mfix_rank(f, 1000, 200, 1, "app");
	put_task(f, 1000, 100, 100, 0, 1, 0, "app");
	put_task(f, 1000, 101, 100, 1, 0, 0, "worker");
	put_task(f, 1000, 200, 200, 1, 0, 1, "app");
	put_task(f, 1000, 201, 200, 1, 0, 1, "worker");
	put_task(f, 1000, 300, 300, 1, 0, 0, "hog");
}

static struct app_time app; /* knows when processes use MPI */

static void replay(struct mfix *f, uint64_t end_ns, const struct model_sink *one,
		   const struct model_sink *other)
{
	const struct model_sink *sinks[] = {&app.sink, one, other};

	app_time_init(&app);
	mfix_end(f, end_ns);
	mfix_open(f, false);
	assert_int_equal(model_run(f->model, sinks, other ? 3 : 2), 0);
}

static void world_end(struct mfix *f)
{
	app_time_release(&app);
	mfix_release(f);
}

static void put_mask(struct mfix *f, uint64_t ts, uint32_t tid, uint32_t tgid, uint64_t cpus)
{
	struct pov_affinity r = {.tgid = tgid, .nr_cpus = (uint32_t)__builtin_popcountll(cpus)};

	r.mask[0] = cpus;
	put_record(f, 0, &r, sizeof(r), POV_KIND_AFFINITY, tid, ts);
}

static const struct demand_mask *mask_of(const struct demand *a, uint64_t cpus, bool all)
{
	for (uint32_t i = 0; i < a->nmask; i++)
		if (a->mask[i].cpus.word[0] == cpus && a->mask[i].all == all)
			return &a->mask[i];
	return NULL;
}

/* ---- contests ---- */

static const struct contest *find(const struct contest *list, uint32_t n, uint32_t waiter,
				  uint32_t holder, enum doing waits, enum doing holds)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i].waiter->tid == waiter && list[i].holder->tid == holder &&
		    list[i].waits == waits && list[i].holds == holds)
			return &list[i];
	return NULL;
}

/* 100 waits for a message while 101 computes on its CPU; then 101 waits while 100 is in that call and behind it. */
static void test_what_both_did(void **state)
{
	const struct contest *c;
	struct contest *list;
	struct contests a;
	struct mfix f;
	uint32_t n;

	(void)state;
	world_begin(&f);
	put_call_begin(&f, 1500, 0, 100, 1100, 0);
	put_waking(&f, 1400, 0, 100, 101, 0);
	put_switch(&f, 1500, 0, 100, PREEMPTED, 101);
	put_switch(&f, 2000, 0, 101, PREEMPTED, 100);
	put_call(&f, 1100, 2300, 0, 100, 100, "MPI_Recv", 0, 0);
	put_switch(&f, 2400, 0, 100, SLEEPS, 101);
	put_switch(&f, 2500, 0, 101, SLEEPS, 0);
	contests_init(&a, &app.windows);
	replay(&f, 9000, &a.sink, NULL);
	list = contests_list(&a, &n);
	c = find(list, n, 100, 101, DOING_POLL, DOING_OWN);
	assert_non_null(c);
	assert_int_equal(c->ns, 500);
	assert_int_equal(c->worst_from_ns, 1500);
	assert_string_equal(c->waits_in->name, "MPI_Recv");
	assert_null(c->holds_in);
	/* 100 ms of the 500 that 100 ran first, four fifths of which it polled; then 300 of 400 */
	c = find(list, n, 101, 100, DOING_OWN, DOING_POLL);
	assert_non_null(c);
	assert_int_equal(c->ns, 80 + 300);
	assert_int_equal(c->cnt, 2);
	assert_string_equal(c->holds_in->name, "MPI_Recv");
	c = find(list, n, 101, 100, DOING_OWN, DOING_OWN);
	assert_int_equal(c->ns, 20 + 100);
	assert_int_equal(n, 3);
	free(list);
	contests_release(&a);
	world_end(&f);
}

/* Polls that found nothing are told when they are over; what is waited in MPI_Init does not count; and what was lost is not known. */
static void test_polls_setup_and_losses(void **state)
{
	struct contest *list;
	struct contests a;
	struct mfix f;
	uint32_t n;

	(void)state;
	world_begin(&f);
	put_switch(&f, 1200, 0, 100, PREEMPTED, 300);
	put_switch(&f, 1500, 0, 300, PREEMPTED, 100);
	put_spin(&f, 1100, 1900, 0, 100, 100, "MPI_Test", 0, 50, 300);
	put_call_begin(&f, 100000, 0, 100, 2000, 0);
	put_switch(&f, 100000, 0, 100, PREEMPTED, 300);
	put_switch(&f, 100200, 0, 300, PREEMPTED, 100);
	put_call(&f, 2000, 200000, 0, 100, 100, "MPI_Init", 0, 0);
	put_switch(&f, 200100, 0, 100, PREEMPTED, 300);
	put_switch(&f, 200250, 0, 300, PREEMPTED, 100);
	put_lost(&f, 200200, 200300, 0, POV_CLASS_CALL, 1);
	contests_init(&a, &app.windows);
	replay(&f, 300000, &a.sink, NULL);
	list = contests_list(&a, &n);
	assert_int_equal(find(list, n, 100, 300, DOING_POLL, DOING_OWN)->ns, 300);
	assert_int_equal(find(list, n, 100, 300, DOING_UNKNOWN, DOING_OWN)->ns, 150);
	assert_int_equal(n, 2);
	free(list);
	contests_release(&a);
	world_end(&f);
}

/* A rank that begins while it is recorded: with two threads on one CPU before MPI_Init, in it, behind it, in and behind MPI_Finalize. */
static void test_only_in_window(void **state)
{
	static const uint64_t at[] = {2000, 4000, 6000, 8000, 9500};
	const struct demand_mask *k;
	struct contest *list;
	struct contests a;
	struct demand d;
	struct mfix f;
	uint32_t n;

	(void)state;
	world_begin(&f);
	put_fork(&f, 1100, 300, 400, 400, 300, "app");
	mfix_rank(&f, 1100, 400, 2, "app");
	put_fork(&f, 1200, 400, 401, 400, 400, "worker");
	put_mask(&f, 1300, 400, 400, 4);
	put_mask(&f, 1300, 401, 400, 4);
	put_waking(&f, 1400, 0, 100, 400, 2);
	put_switch(&f, 1400, 2, 0, SLEEPS, 400);
	for (int i = 0; i < 5; i++) {
		put_waking(&f, at[i], 2, 400, 401, 2);
		put_switch(&f, at[i] + 100 + (uint64_t)i, 2, 400, PREEMPTED, 401);
		put_switch(&f, at[i] + 300, 2, 401, SLEEPS, 400);
		if (i == 1)
			put_call(&f, 3000, 5000, 2, 400, 400, "MPI_Init", 0, 0);
		if (i == 3)
			put_call(&f, 7000, 9000, 2, 400, 400, "MPI_Finalize", 0, 0);
	}
	contests_init(&a, &app.windows);
	demand_init(&d, &app.windows);
	replay(&f, 20000, &a.sink, &d.sink);
	list = contests_list(&a, &n);
	/* of what 400 ran then, seven parts of eighteen lay in MPI_Init */
	assert_int_equal(find(list, n, 401, 400, DOING_OWN, DOING_OWN)->ns, 102 - 39);
	assert_int_equal(find(list, n, 401, 400, DOING_OWN, DOING_WORK)->ns, 39);
	assert_int_equal(find(list, n, 400, 401, DOING_OWN, DOING_OWN)->ns, 300 - 102);
	assert_int_equal(n, 3);
	k = mask_of(&d, 4, false);
	assert_int_equal(k->lost_ns,
			 300 + 300); /* that it is in MPI_Finalize is known at its end */
	free(list);
	contests_release(&a);
	demand_release(&d);
	world_end(&f);
}

/* More stretches than are kept of a thread that has called before: of the first ones nobody knows what it did. */
static void test_too_many(void **state)
{
	uint64_t ts = 2000, unknown = 0, own = 0;
	struct contest *list;
	struct contests a;
	struct mfix f;
	uint32_t n;

	(void)state;
	world_begin(&f);
	put_call(&f, 1100, 1200, 0, 100, 100, "MPI_Send", 0, 0);
	for (int i = 0; i < DOING_KEPT_MAX + 7; i++, ts += 20) {
		put_switch(&f, ts, 0, 100, PREEMPTED, 300);
		put_switch(&f, ts + 10, 0, 300, PREEMPTED, 100);
	}
	contests_init(&a, &app.windows);
	replay(&f, ts, &a.sink, NULL);
	list = contests_list(&a, &n);
	for (uint32_t i = 0; i < n; i++) {
		unknown += list[i].waits == DOING_UNKNOWN ? list[i].ns : 0;
		own += list[i].waits == DOING_OWN ? list[i].ns : 0;
	}
	assert_int_equal(unknown, 7 * 10);
	assert_int_equal(own, DOING_KEPT_MAX * 10);
	free(list);
	contests_release(&a);
	world_end(&f);
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

static void test_sums_of_holders(void **state)
{
	struct mfix f;
	struct machine m = {.f = &f, .ts = 1100};
	struct contest *list;
	struct holders h;
	struct contests a;
	struct holder *held;
	uint32_t n, nheld, compared = 0;

	(void)state;
	srand(4711);
	world_begin(&f);
	put_switch(&f, m.ts, 0, 100, SLEEPS, 0); /* from here on it is known who runs */
	for (int i = 0; i < ROUNDS; i++)
		machine_step(&m);
	contests_init(&a, &app.windows);
	holders_init(&h);
	replay(&f, m.ts + 10, &a.sink, &h.sink);
	list = contests_list(&a, &n);
	held = holders_list(&h, f.model, &nheld);
	for (uint32_t i = 0; i < nheld; i++) {
		const struct model_thread *w = model_thread_get(f.model, held[i].waiter);
		uint64_t ns = 0;

		for (uint32_t k = 0; k < n; k++)
			if (list[k].waiter == w && list[k].holder->idx == held[i].thread)
				ns += list[k].ns;
		assert_int_equal(ns, w->proc->is_rank ? held[i].ns : 0);
		compared += w->proc->is_rank && ns > 10000;
	}
	assert_int_equal(compared, 4 * 4); /* each of four with each of the others */
	free(list);
	free(held);
	contests_release(&a);
	holders_release(&h);
	world_end(&f);
}

/* ---- demand ---- */

static void test_demand(void **state)
{
	const struct demand_mask *k;
	struct demand a;
	struct mfix f;

	(void)state;
	world_begin(&f);
	put_mask(&f, 1050, 100, 100, 1);
	put_mask(&f, 1050, 101, 100, 1);
	put_mask(&f, 1050, 200, 200, 3);
	put_waking(&f, 1100, 0, 100, 101, 0); /* two on CPU 0 */
	put_switch(&f, 1500, 0, 100, PREEMPTED, 101);
	put_waking(&f, 1600, 0, 101, 200, 0);	      /* CPU 1 is free for it */
	put_switch(&f, 2000, 0, 101, PREEMPTED, 300); /* a stranger has it */
	put_switch(&f, 2400, 0, 300, SLEEPS, 100);
	put_switch(&f, 2600, 0, 100, SLEEPS, 101);
	demand_init(&a, &app.windows);
	replay(&f, 9000, &a.sink, NULL);
	k = mask_of(&a, 1, false);
	assert_non_null(k);
	assert_int_equal(k->nr, 1);
	assert_int_equal(k->most, 2);
	assert_int_equal(k->lost_ns, 900 + 200);
	assert_int_equal(k->over_ns, 900 + 200);
	assert_int_equal(k->want_ns, 2 * (900 + 200));
	assert_int_equal(k->ran_ns, 950 + 6600); /* all but 400, from 1050 on */
	assert_int_equal(k->worst_ns, 900);
	assert_int_equal(k->worst_from_ns, 1100);
	assert_int_equal(demand_of_thread(&a, mfix_thread(&f, 101), (uint32_t)(k - a.mask)), 1100);
	assert_int_equal(mask_of(&a, 3, false)->over_ns, 0);
	assert_int_equal(mask_of(&a, 3, true)->over_ns, 0);
	demand_release(&a);
	world_end(&f);
}

/* Masks that overlap: four threads on three CPUs, though none has more threads than CPUs. */
static void test_demand_overlapping(void **state)
{
	const struct demand_mask *k;
	struct demand a;
	struct mfix f;

	(void)state;
	world_begin(&f);
	put_mask(&f, 1050, 100, 100, 3);
	put_mask(&f, 1050, 101, 100, 3);
	put_mask(&f, 1050, 200, 200, 6);
	put_mask(&f, 1050, 201, 200, 6);
	put_waking(&f, 1100, 0, 100, 101, 1);
	put_switch(&f, 1100, 1, 0, SLEEPS, 101);
	put_waking(&f, 1200, 0, 100, 200, 2);
	put_switch(&f, 1200, 2, 0, SLEEPS, 200);
	put_waking(&f, 1300, 0, 100, 201, 2);
	put_switch(&f, 2000, 2, 200, SLEEPS, 201);
	demand_init(&a, &app.windows);
	replay(&f, 9000, &a.sink, NULL);
	k = mask_of(&a, 7, true);
	assert_non_null(k);
	assert_int_equal(k->nr, 3);
	assert_int_equal(k->lost_ns, 700);
	assert_int_equal(mask_of(&a, 3, false)->lost_ns, 0);
	assert_int_equal(mask_of(&a, 6, false)->lost_ns, 0);
	demand_release(&a);
	world_end(&f);
}

/* ---- moves and wake-ups ---- */

static void test_moves(void **state)
{
	const struct moves_thread *row;
	const struct moves_process *p;
	struct moves a;
	struct mfix f;

	(void)state;
	world_begin(&f);
	put_switch(&f, 2000, 0, 100, PREEMPTED, 300);
	put_migrate(&f, 2100, 100, 0, 1);
	put_switch(&f, 2200, 1, 0, SLEEPS, 100);
	put_switch(&f, 3000, 1, 100, PREEMPTED, 0);
	put_migrate(&f, 3050, 100, 1, 0);
	put_switch(&f, 3300, 0, 300, SLEEPS, 100);
	put_switch(&f, 4000, 0, 100, SLEEPS, 0);
	put_waking(&f, 5000, 1, 0, 100, 0);
	put_switch(&f, 5000 + WAKEUP_SLOW_NS, 0, 0, SLEEPS, 100);
	put_switch(&f, 200000, 0, 100, SLEEPS, 300);
	put_waking(&f, 300000, 0, 300, 100, 0); /* its core is held: another trouble */
	put_switch(&f, 500000, 0, 300, SLEEPS, 100);
	moves_init(&a);
	replay(&f, 900000, &a.sink, NULL);
	row = &a.thread[mfix_thread(&f, 100)->idx];
	assert_int_equal(row->moves, 2);
	assert_int_equal(row->back, 1);
	assert_int_equal(row->moves_wait_ns, 200 + 300);
	assert_int_equal(row->worst_ns, 300);
	p = &a.process[mfix_thread(&f, 100)->proc->idx];
	assert_int_equal(p->wakeups.cnt, 2);
	assert_int_equal(p->wakeups.max, 200000);
	assert_int_equal(p->slow, 1);
	assert_int_equal(p->slow_ns, WAKEUP_SLOW_NS);
	assert_int_equal(p->worst_from_ns, 5000);
	moves_release(&a);
	world_end(&f);
}

/* ---- balance ---- */

static void test_balance(void **state)
{
	const struct model_sink none = {.ctx = NULL};
	struct mfix f;

	(void)state;
	world_begin(&f);
	put_call(&f, 1100, 1500, 0, 100, 100, "MPI_Init", 0, 0);
	put_waking(&f, 1600, 0, 100, 101, 1);
	put_switch(&f, 1700, 1, 0, SLEEPS, 101);
	put_call(&f, 2000, 2300, 0, 100, 100, "MPI_Recv", 0, 0);
	put_spin(&f, 2400, 2450, 0, 100, 100, "MPI_Test", 0, 5, 30);
	put_switch(&f, 2700, 1, 101, SLEEPS, 0);
	put_call(&f, 3000, 3500, 0, 100, 100, "MPI_Finalize", 0, 0);
	put_switch(&f, 4000, 0, 100, SLEEPS, 0);
	replay(&f, 9000, &none, NULL);
	/* from 1500 to 3000 but for the calls, and the other thread */
	assert_int_equal(app.process[mfix_thread(&f, 100)->proc->idx].computed_ns,
			 1500 - 300 - 50 + 1000);
	assert_int_equal(app.process[mfix_thread(&f, 200)->proc->idx].init_ns, 0);
	assert_false(app.lost);
	world_end(&f);
}

/* ---- storms ---- */

static void tell_message(struct storms *a, const struct model_thread *t, bool sends, int64_t bytes,
			 uint64_t begin_ns)
{
	static const struct func_info isend = {.name = "MPI_Isend", .layer_name = "mpi"};
	const struct model_operation o = {
		.thread = t, .func = &isend, .begin_ns = begin_ns, .posted_ns = begin_ns + 100};
	const struct model_message msg = {.operation = &o,
					  .sends = sends,
					  .peer_world = 1,
					  .peer_job = t->proc->job_idx,
					  .bytes = bytes};

	a->sink.message(a, &msg);
}

static void test_storms(void **state)
{
	const struct model_thread *t;
	uint64_t ts = 10000;
	struct storms a;
	struct storm *s;
	struct mfix f;
	size_t at = 0;

	(void)state;
	world_begin(&f);
	storms_init(&a);
	replay(&f, 9000, &a.sink, NULL);
	t = mfix_thread(&f, 100);
	for (int i = 0; i < STORM_MIN; i++, ts += 1000)
		tell_message(&a, t, true, 8, ts);
	tell_message(&a, t, true, STORM_BYTES + 1, ts); /* too large to count, and ends it */
	for (int i = 0; i < STORM_MIN - 1; i++, ts += 1000)
		tell_message(&a, t, true, 8, ts);
	tell_message(&a, t, false, 8, ts); /* an answer */
	for (int i = 0; i < STORM_MIN - 1; i++, ts += 1000)
		tell_message(&a, t, true, 8, ts);
	ts += STORM_GAP_NS;
	for (int i = 0; i < STORM_MIN + 3; i++, ts += 1000)
		tell_message(&a, t, true, 16, ts);
	assert_int_equal(a.sink.finish(&a, f.model), 0);
	s = map_next(&a.pairs, &at, NULL);
	assert_non_null(s);
	assert_int_equal(s->storms, 2);
	assert_int_equal(s->messages, 2 * STORM_MIN + 3);
	assert_int_equal(s->bytes, 8 * STORM_MIN + 16 * (STORM_MIN + 3));
	assert_int_equal(s->ns, 100 * (2 * STORM_MIN + 3));
	assert_int_equal(s->worst, STORM_MIN + 3);
	storms_release(&a);
	world_end(&f);
}

/* ---- volumes ---- */

static void test_volumes(void **state)
{
	static const struct func_info send = {.name = "MPI_Send", .layer_name = "mpi"};
	static const struct call_roles roles = {.has_peer = true};
	struct model_operation o = {.func = &send, .roles = &roles};
	struct model_message msg = {.operation = &o, .sends = true, .peer_world = 1, .bytes = 70};
	struct volumes a;
	struct mfix f;

	(void)state;
	world_begin(&f);
	volumes_init(&a);
	replay(&f, 9000, &a.sink, NULL);
	o.thread = mfix_thread(&f, 100);
	msg.peer_job = o.thread->proc->job_idx;
	a.sink.message(&a, &msg);
	msg.bytes = BYTES_UNKNOWN;
	a.sink.message(&a, &msg);
	msg.bytes = 1000;
	msg.sends = false; /* who sends it says it */
	a.sink.message(&a, &msg);
	msg.sends = true;
	msg.why = PEER_UNKNOWN_COMM;
	a.sink.message(&a, &msg);
	assert_int_equal(a.bytes[mfix_thread(&f, 100)->proc->idx], 70);
	assert_int_equal(a.bytes[mfix_thread(&f, 200)->proc->idx], 70);
	volumes_release(&a);
	world_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_both_did),
		cmocka_unit_test(test_polls_setup_and_losses),
		cmocka_unit_test(test_only_in_window),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_sums_of_holders),
		cmocka_unit_test(test_demand),
		cmocka_unit_test(test_demand_overlapping),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_balance),
		cmocka_unit_test(test_storms),
		cmocka_unit_test(test_volumes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
