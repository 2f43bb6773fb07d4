/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Why those who were waited for were late: each cause by a schedule made by hand, chains to their roots, and random schedules, of
 * which the causes are found once more here, moment by moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/causes.h"
#include "unit/model_fixture.h"

#define RANKS 5
#define START 1000

static const struct func_info barrier = {
	.name = "MPI_Barrier", .group = "coll", .layer_name = "mpi", .waits = true};
static const struct func_info send_func = {.name = "MPI_Send", .group = "p2p", .layer_name = "mpi"};

struct world {
	struct mfix f;
	struct model_thread thread[RANKS];
	struct model_thread hog;
	struct model_process hog_process;
	struct holders holders;
	struct arrivals arrivals;
	struct late_pairs late;
	struct causes causes;
};

static void world_open(struct world *w)
{
	memset(w, 0, sizeof(*w));
	mfix_begin(&w->f, "\"sched\":\"all\",\"rings\":1");
	for (uint32_t i = 0; i < RANKS; i++) {
		mfix_rank(&w->f, START, 100 + i, (int)i, "app");
		put_task(&w->f, START, 100 + i, 100 + i, 0, 1, 0, "app");
	}
	mfix_end(&w->f, 9000);
	mfix_open(&w->f, false);
	for (uint32_t i = 0; i < RANKS; i++) {
		w->thread[i].proc = model_process_get(w->f.model, i);
		w->thread[i].proc->start_ns = START + 1;
		w->thread[i].idx = i;
		w->thread[i].state = THREAD_DEAD;
	}
	w->hog_process.idx = RANKS;
	w->hog.proc = &w->hog_process;
	w->hog.idx = RANKS;
	holders_init(&w->holders);
	arrivals_init(&w->arrivals);
	late_init(&w->late);
	causes_init(&w->causes, &w->late, &w->arrivals, &w->holders);
	w->arrivals.sink.start(&w->arrivals, w->f.model);
	w->causes.sink.start(&w->causes, w->f.model);
}

static void world_end(struct world *w)
{
	w->causes.sink.finish(&w->causes, w->f.model);
}

static void world_close(struct world *w)
{
	causes_release(&w->causes);
	holders_release(&w->holders);
	arrivals_release(&w->arrivals);
	late_release(&w->late);
	mfix_release(&w->f);
}

static void state(struct world *w, int rank, uint64_t from_ns, uint64_t to_ns, enum thread_state s)
{
	if (s == THREAD_RUNNABLE)
		w->holders.tell(w->holders.ctx, &w->thread[rank], &w->hog, from_ns, to_ns);
	w->causes.sink.state(&w->causes, &w->thread[rank], from_ns, to_ns, s, 0);
}

static void call(struct world *w, int rank, uint64_t begin_ns, uint64_t end_ns)
{
	const struct model_call c = {.func = &send_func,
				     .thread = &w->thread[rank],
				     .begin_ns = begin_ns,
				     .end_ns = end_ns,
				     .split = {.ns = {[THREAD_RUNNING] = end_ns - begin_ns}}};

	w->causes.sink.call(&w->causes, &c);
}

static void polls(struct world *w, int rank, uint64_t begin_ns, uint64_t end_ns)
{
	const struct model_spin s = {.thread = &w->thread[rank],
				     .begin_ns = begin_ns,
				     .end_ns = end_ns,
				     .nfuncs = 1,
				     .func = {{.func = &send_func}}};

	w->causes.sink.spin(&w->causes, &s);
}

/* A rank waits from a time on to receive what another one sends later. */
static void receive(struct world *w, int rank, uint64_t from_ns, int sender, uint64_t sent_ns)
{
	const struct match m = {
		.send = {.process = w->thread[sender].proc,
			 .thread = &w->thread[sender],
			 .begin_ns = sent_ns,
			 .end_ns = sent_ns + 1},
		.recv = {.process = w->thread[rank].proc,
			 .thread = &w->thread[rank],
			 .completer = &w->thread[rank],
			 .begin_ns = from_ns,
			 .completing_ns = from_ns,
			 .end_ns = sent_ns + 1},
	};

	w->late.matches.tell(w->late.matches.ctx, &m);
}

/* A member's part in a collective call of so many. */
static void join(struct world *w, int rank, uint32_t comm, int members, uint64_t begin_ns,
		 uint64_t end_ns)
{
	struct call_view view = {
		.roles = {.has_comm = true, .comm_id = comm, .comm_size = members}};
	const struct model_call c = {.func = &barrier,
				     .thread = &w->thread[rank],
				     .begin_ns = begin_ns,
				     .end_ns = end_ns,
				     .split = {.ns = {[THREAD_RUNNING] = end_ns - begin_ns}},
				     .view = &view};

	w->arrivals.sink.call(&w->arrivals, &c);
	w->causes.sink.call(&w->causes, &c);
}

static uint64_t ns_in(const struct map *of, uint32_t process, int kind, uint64_t *cnt)
{
	uint64_t ns = 0;
	uint32_t n;
	struct cause *c = causes_list(of, &n);

	for (uint32_t i = 0; i < n; i++) {
		if ((process != CAUSE_NOBODY && c[i].process != process) ||
		    (kind != CAUSE_KINDS && (int)c[i].kind != kind))
			continue;
		ns += c[i].ns;
		if (cnt)
			*cnt += c[i].cnt;
	}
	free(c);
	return ns;
}

static uint64_t root_ns(struct world *w, uint32_t process, int kind)
{
	return ns_in(&w->causes.roots, process, kind, NULL);
}

/* Rank 0 waits from 2000 to 3000 for rank 1, which does one thing after the other. */
static void test_each_cause(void **unused)
{
	struct cause *c;
	struct world w;
	uint32_t n;

	(void)unused;
	world_open(&w);
	state(&w, 1, 1500, 2300, THREAD_RUNNING);
	state(&w, 1, 2300, 2400, THREAD_RUNNABLE);
	state(&w, 1, 2400, 2450, THREAD_BLOCKED);
	state(&w, 1, 2450, 2800, THREAD_RUNNING);
	call(&w, 1, 2500, 2600);
	polls(&w, 1, 2600, 2620);
	state(&w, 1, 2800, 2850, THREAD_UNKNOWN);
	state(&w, 1, 2850, 3100, THREAD_BLOCKED);
	call(&w, 1, 2900, 2970); /* blocked, but in MPI */
	call(&w, 0, 2000, 3001);
	receive(&w, 0, 2000, 1, 3000);
	call(&w, 1, 3000, 3001);
	world_end(&w);
	assert_int_equal(root_ns(&w, 1, CAUSE_COMPUTED), 300 + 50 + 180);
	assert_int_equal(root_ns(&w, 1, CAUSE_NO_CORE), 100);
	assert_int_equal(root_ns(&w, 1, CAUSE_SLEPT), 50 + 50 + 30);
	assert_int_equal(root_ns(&w, 1, CAUSE_MPI), 100 + 70);
	assert_int_equal(root_ns(&w, 1, CAUSE_POLLED), 20);
	assert_int_equal(root_ns(&w, 1, CAUSE_OUTSIDE), 50);
	assert_int_equal(root_ns(&w, CAUSE_NOBODY, CAUSE_KINDS), 1000);
	assert_int_equal(ns_in(&w.causes.direct[CAUSE_LATE_SENDER], 1, CAUSE_KINDS, NULL), 1000);
	c = causes_list(&w.causes.roots, &n);
	assert_int_equal(c[0].kind, CAUSE_COMPUTED);
	assert_int_equal(c[0].cnt, 1);
	assert_int_equal(c[0].worst.ns, 530);
	assert_int_equal(c[0].worst.from_ns, 2000);
	assert_int_equal(c[0].worst.to_ns, 2800);
	assert_int_equal(c[0].worst.nchain, 2);
	assert_int_equal(c[0].worst.chain[0], 0);
	assert_int_equal(c[0].worst.chain[1], 1);
	assert_string_equal(c[0].worst.after->name, "MPI_Send");
	assert_int_equal(c[0].worst.after_ns, 2900);
	assert_int_equal(c[0].farthest.ns, 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(c[i].other,
				 c[i].kind == CAUSE_NO_CORE ? w.hog_process.idx : CAUSE_NOBODY);
	free(c);
	/* of its call of 1001, rank 0 waited 1000 */
	assert_int_equal(causes_blame(&w.causes, 0)->calls.ns[THREAD_RUNNING], 1001);
	assert_int_equal(causes_blame(&w.causes, 0)->waited[CAUSE_LATE_SENDER].ns[THREAD_UNKNOWN],
			 1000);
	world_close(&w);
}

/* Rank 2 waits for rank 1, which waits for rank 0, which computes; known in the order 2, 1. */
static void test_chain(void **unused)
{
	struct cause *c;
	struct world w;
	uint32_t n;

	(void)unused;
	world_open(&w);
	state(&w, 0, 1500, 5000, THREAD_RUNNING);
	state(&w, 1, 1500, 5000, THREAD_RUNNING);
	receive(&w, 2, 2000, 1, 2900);
	call(&w, 0, 2800, 2810);
	call(&w, 1, 2100, 2810);
	receive(&w, 1, 2100, 0, 2800);
	world_end(&w);
	/* for rank 1 itself 100 before its call, 90 behind it, 10 in it when the message had been sent */
	assert_int_equal(root_ns(&w, 1, CAUSE_COMPUTED), 100 + 90);
	assert_int_equal(root_ns(&w, 1, CAUSE_MPI), 10);
	assert_int_equal(root_ns(&w, 0, CAUSE_COMPUTED), 700 + 700);
	assert_int_equal(root_ns(&w, CAUSE_NOBODY, CAUSE_KINDS), 900 + 700);
	assert_int_equal(ns_in(&w.causes.direct[CAUSE_LATE_SENDER], 1, CAUSE_WAITED, NULL), 700);
	c = causes_list(&w.causes.roots, &n);
	assert_int_equal(c[0].process, 0);
	assert_int_equal(c[0].through_ns, 700);
	assert_int_equal(c[0].farthest.nchain, 3);
	assert_int_equal(c[0].farthest.chain[0], 2);
	assert_int_equal(c[0].farthest.chain[1], 1);
	assert_int_equal(c[0].farthest.chain[2], 0);
	assert_string_equal(c[0].farthest.after->name, "MPI_Send");
	free(c);
	world_close(&w);
}

/* Ranks 0 and 1 are in a barrier that rank 2 comes to when it has received from rank 3; rank 4 waits for rank 0. */
static void test_through_collective(void **unused)
{
	struct world w;

	(void)unused;
	world_open(&w);
	for (int i = 0; i < RANKS; i++)
		state(&w, i, 1500, 5000, i == 3 ? THREAD_BLOCKED : THREAD_RUNNING);
	receive(&w, 4, 2000, 0, 2600);
	receive(&w, 2, 2100, 3, 2400);
	call(&w, 2, 2100, 2401);
	join(&w, 0, 1, 3, 2000, 2510);
	join(&w, 1, 1, 3, 2050, 2510);
	join(&w, 2, 1, 3, 2500, 2510);
	world_end(&w);
	/* 50 of rank 0 are half for rank 1, half for 2; then two wait for rank 2; rank 4 waits as rank 0 does, and then for it */
	assert_int_equal(root_ns(&w, 1, CAUSE_COMPUTED), 25 + 25);
	assert_int_equal(root_ns(&w, 2, CAUSE_COMPUTED),
			 (25 + 2 * 50 + 2 * 100) + (25 + 50 + 100) - 3);
	assert_int_equal(root_ns(&w, 2, CAUSE_MPI), 2 + 1); /* when it has received */
	assert_int_equal(root_ns(&w, 3, CAUSE_SLEPT), 300 + 2 * 300 + 300);
	assert_int_equal(root_ns(&w, 0, CAUSE_MPI), 10);
	assert_int_equal(root_ns(&w, 0, CAUSE_COMPUTED), 90);
	assert_int_equal(root_ns(&w, CAUSE_NOBODY, CAUSE_KINDS), 600 + 300 + 50 + 2 * 450);
	world_close(&w);
}

/* Two wait for each other at the same time: whoever was first, this is not the cause. */
static void test_circle(void **unused)
{
	struct world w;

	(void)unused;
	world_open(&w);
	receive(&w, 0, 2000, 1, 2500);
	receive(&w, 1, 2000, 0, 2500);
	world_end(&w);
	assert_int_equal(root_ns(&w, CAUSE_NOBODY, CAUSE_UNKNOWN), 1000);
	assert_int_equal(root_ns(&w, CAUSE_NOBODY, CAUSE_KINDS), 1000);
	world_close(&w);
}

/* ---- random schedules ---- */

#define SLOT 200
#define SLOTS 40
#define SPAN (SLOT * SLOTS)
#define UNIT 100 /* ns */
#define NS(at) (START + (uint64_t)(at)*UNIT)

/* What is true at each moment. */
struct truth {
	struct {
		uint8_t state, in; /* in: 1 a call, 2 polls */
		int wait;	   /* of wait[], + 1 */
	} at[RANKS][SPAN];
	struct {
		uint32_t members, late[RANKS];
		uint64_t begin[RANKS]; /* of late ones */
	} wait[RANKS * SLOTS];
	int waits;
	double ns[RANKS][CAUSE_KINDS];
};

static uint64_t random_state = 12345;

static uint32_t below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static void random_states(struct world *w, struct truth *t, int rank)
{
	uint64_t from, to;

	for (from = 0; from < SPAN; from = to) {
		enum thread_state s = below(4); /* unknown, running, runnable, blocked */

		to = from + 1 + below(90);
		to = to < SPAN ? to : SPAN;
		state(w, rank, NS(from), NS(to), s);
		for (uint64_t x = from; x < to; x++)
			t->at[rank][x].state = s;
	}
}

static void mark_call(struct truth *t, int rank, uint64_t from, uint64_t to, uint8_t in, int wait,
		      uint64_t wait_to)
{
	for (uint64_t x = from; x < to; x++) {
		t->at[rank][x].in = in;
		if (x < wait_to)
			t->at[rank][x].wait = wait;
	}
}

/* A rank is in a call, or in polls, or waits for a message of another one. */
static void random_single(struct world *w, struct truth *t, int rank, uint64_t slot)
{
	uint64_t from = slot + below(80), to = from + 2 + below(100), sent;
	uint32_t other = below(RANKS);

	if (!below(4)) {
		polls(w, rank, NS(from), NS(to));
		mark_call(t, rank, from, to, 2, 0, 0);
		return;
	}
	call(w, rank, NS(from), NS(to));
	mark_call(t, rank, from, to, 1, 0, 0);
	if ((int)other == rank)
		return;
	sent = from + 1 + below((uint32_t)(to - from - 1));
	t->wait[t->waits].members = 1;
	t->wait[t->waits].late[0] = other;
	t->wait[t->waits].begin[0] = sent;
	mark_call(t, rank, from, to, 1, ++t->waits, sent);
	receive(w, rank, NS(from), (int)other, NS(sent));
}

/* Ranks 0 to members - 1 are in a collective call; some leave early. */
static void random_joint(struct world *w, struct truth *t, int members, uint64_t slot)
{
	uint64_t begin[RANKS], end, last = 0;

	for (int i = 0; i < members; i++) {
		begin[i] = slot + below(120);
		last = begin[i] > last ? begin[i] : last;
		t->wait[t->waits].late[i] = (uint32_t)i;
		t->wait[t->waits].begin[i] = begin[i];
	}
	t->wait[t->waits++].members = (uint32_t)members;
	for (int i = 0; i < members; i++) {
		end = below(3) ? last + 1 + below(20) : begin[i] + 1 + below(40);
		join(w, i, (uint32_t)members, members, NS(begin[i]), NS(end));
		mark_call(t, i, begin[i], end, 1, t->waits, last < end ? last : end);
	}
}

static uint8_t kind_at(const struct truth *t, uint32_t rank, uint64_t x)
{
	static const uint8_t outside[] = {CAUSE_OUTSIDE, CAUSE_COMPUTED, CAUSE_NO_CORE,
					  CAUSE_SLEPT};
	uint8_t s = t->at[rank][x].state;

	if (s == THREAD_RUNNABLE)
		return CAUSE_NO_CORE;
	return t->at[rank][x].in == 1 ? CAUSE_MPI :
	       t->at[rank][x].in == 2 ? CAUSE_POLLED :
					outside[s];
}

/* Shares a moment that somebody waited out over those who are missing. */
static void blame_at(struct truth *t, int wait, uint64_t x, double share, uint32_t path,
		     uint32_t waiter)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < t->wait[wait - 1].members; i++)
		missing += t->wait[wait - 1].begin[i] > x;
	for (uint32_t i = 0; i < t->wait[wait - 1].members; i++) {
		uint32_t late = t->wait[wait - 1].late[i];

		if (t->wait[wait - 1].begin[i] <= x)
			continue;
		if (path & 1u << late)
			t->ns[waiter][CAUSE_UNKNOWN] += share / missing; /* a circle */
		else if (t->at[late][x].wait)
			blame_at(t, t->at[late][x].wait, x, share / missing, path | 1u << late,
				 late);
		else
			t->ns[late][kind_at(t, late, x)] += share / missing;
	}
}

static uint64_t waited_ns(struct world *w)
{
	uint64_t ns = 0;
	uint32_t n;
	struct late *l = late_list(&w->late, &n);

	for (uint32_t i = 0; i < n; i++)
		ns += l[i].ns;
	for (uint32_t i = 0; i < w->arrivals.nprocess; i++)
		ns += w->arrivals.process[i].waited_ns;
	free(l);
	return ns;
}

static void random_world(struct world *w, struct truth *t)
{
	for (int i = 0; i < RANKS; i++)
		random_states(w, t, i);
	for (uint64_t slot = 0; slot < SPAN; slot += SLOT) {
		int members = (int)below(RANKS + 1);

		if (members > 1)
			random_joint(w, t, members, slot);
		for (int i = members > 1 ? members : 0; i < RANKS; i++)
			random_single(w, t, i, slot);
	}
}

static void test_random(void **unused)
{
	struct truth *t = malloc(sizeof(*t));
	uint64_t direct_ns;
	struct world w;

	(void)unused;
	for (int round = 0; round < 100; round++) {
		memset(t, 0, sizeof(*t));
		world_open(&w);
		random_world(&w, t);
		world_end(&w);
		for (uint32_t i = 0; i < RANKS; i++)
			for (uint64_t x = 0; x < SPAN; x++)
				if (t->at[i][x].wait)
					blame_at(t, t->at[i][x].wait, x, UNIT, 0, i);
		assert_int_equal(root_ns(&w, CAUSE_NOBODY, CAUSE_KINDS), waited_ns(&w));
		direct_ns = 0;
		for (int how = 0; how < CAUSE_WAITS; how++)
			direct_ns += ns_in(&w.causes.direct[how], CAUSE_NOBODY, CAUSE_KINDS, NULL);
		assert_int_equal(direct_ns, waited_ns(&w));
		/* what arrivals shares out is cut to whole nanoseconds */
		for (uint32_t i = 0; i < RANKS; i++)
			for (int kind = 0; kind < CAUSE_KINDS; kind++) {
				double got = (double)root_ns(&w, i, kind), want = t->ns[i][kind];

				if (got > want + 200 || got < want - 200)
					fail_msg("rank %u, kind %d: %.1f, should be %.1f", i, kind,
						 got, want);
			}
		world_close(&w);
	}
	free(t);
}

/* More than is kept: what is followed is followed in time, and the sum stays right. */
static void test_many(void **unused)
{
	struct world w;
	uint64_t at = START;

	(void)unused;
	world_open(&w);
	for (uint32_t i = 0; i < CAUSES_KEPT_MAX; i++, at += 100) {
		state(&w, 1, at, at + 50, THREAD_RUNNING);
		state(&w, 1, at + 50, at + 100, THREAD_BLOCKED);
		call(&w, 1, at + 60, at + 70);
		if (i % 4 == 0)
			receive(&w, 0, at + 10, 1, at + 60);
	}
	assert_true(w.causes.kept <= CAUSES_KEPT_MAX);
	world_end(&w);
	assert_int_equal(root_ns(&w, 1, CAUSE_COMPUTED), 40ull * (CAUSES_KEPT_MAX / 4));
	assert_int_equal(root_ns(&w, 1, CAUSE_SLEPT), 10ull * (CAUSES_KEPT_MAX / 4));
	assert_int_equal(root_ns(&w, CAUSE_NOBODY, CAUSE_KINDS), waited_ns(&w));
	assert_int_equal(w.causes.told_late, 0);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_cause),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_through_collective),
		cmocka_unit_test(test_circle),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
