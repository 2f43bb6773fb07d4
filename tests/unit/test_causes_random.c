/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Why the ranks waited for were late, on random schedules. The test derives the causes
 * independently, moment by moment, from the state at each of them.
 */
#include "unit/test.h"
#include "unit/causes_world.h"

#define SLOT 200
#define SLOTS 40
#define SPAN (SLOT * SLOTS)
#define UNIT 100 /* ns */
#define NS(at) (START + (uint64_t)(at)*UNIT)

/* The state at each moment. */
struct truth {
	struct {
		uint8_t state, in; /* in = 1: a call, 2: polls */
		int wait;	   /* index in wait[] + 1 */
	} at[RANKS][SPAN];
	struct {
		uint32_t members, late[RANKS];
		uint64_t begin[RANKS]; /* begin of the late ranks */
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

static void random_states(struct causes_world *w, struct truth *t, int rank)
{
	uint64_t from, to;

	for (from = 0; from < SPAN; from = to) {
		enum thread_state s = below(4); /* unknown, running, runnable, blocked */

		to = from + 1 + below(90);
		to = to < SPAN ? to : SPAN;
		state_at(w, rank, NS(from), NS(to), s);
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

/* Puts a rank into a call, into polls, or into a wait for another rank's message. */
static void random_single(struct causes_world *w, struct truth *t, int rank, uint64_t slot)
{
	uint64_t from = slot + below(80), to = from + 2 + below(100), sent;
	uint32_t other = below(RANKS);

	if (!below(4)) {
		told_polls(w, rank, NS(from), NS(to));
		mark_call(t, rank, from, to, 2, 0, 0);
		return;
	}
	call_at(w, rank, NS(from), NS(to));
	mark_call(t, rank, from, to, 1, 0, 0);
	if ((int)other == rank)
		return;
	sent = from + 1 + below((uint32_t)(to - from - 1));
	t->wait[t->waits].members = 1;
	t->wait[t->waits].late[0] = other;
	t->wait[t->waits].begin[0] = sent;
	mark_call(t, rank, from, to, 1, ++t->waits, sent);
	told_receive(w, rank, NS(from), (int)other, NS(sent));
}

/* Puts ranks 0 to members - 1 into a collective call; some leave early. */
static void random_joint(struct causes_world *w, struct truth *t, int members, uint64_t slot)
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
		told_join(w, i, (uint32_t)members, members, NS(begin[i]), NS(end));
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

/* Divides a moment of waiting among the missing ranks. */
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
			t->ns[waiter][CAUSE_UNKNOWN] += share / missing; /* a cycle */
		else if (t->at[late][x].wait)
			blame_at(t, t->at[late][x].wait, x, share / missing, path | 1u << late,
				 late);
		else
			t->ns[late][kind_at(t, late, x)] += share / missing;
	}
}

static void random_world(struct causes_world *w, struct truth *t)
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

/*
 * Shares of arrivals are truncated to whole nanoseconds. Part of what a rank computed is charged to
 * its delays before.
 */
static void roots_check(struct causes_world *w, const struct truth *t, uint32_t rank)
{
	double moved = 0;

	for (int kind = 0; kind < CAUSE_KINDS; kind++) {
		double got = (double)causes_world_root_ns(w, rank, kind), want = t->ns[rank][kind];
		bool delay = kind == CAUSE_NO_CORE || kind == CAUSE_SLEPT;

		if (delay || kind == CAUSE_COMPUTED)
			moved += got - want;
		if ((got > want + 200 && !delay) || (got < want - 200 && kind != CAUSE_COMPUTED))
			fail_msg("rank %u, kind %d: %.1f, should be %.1f", rank, kind, got, want);
	}
	if (moved > 600 || moved < -600)
		fail_msg("rank %u: %.1f more than it made others wait", rank, moved);
}

TEST(random)
{
	struct truth *t = malloc(sizeof(*t));
	uint64_t direct_ns;
	struct causes_world w;

	for (int round = 0; round < 100; round++) {
		memset(t, 0, sizeof(*t));
		causes_world_open(&w);
		random_world(&w, t);
		causes_world_end(&w);
		for (uint32_t i = 0; i < RANKS; i++)
			for (uint64_t x = 0; x < SPAN; x++)
				if (t->at[i][x].wait)
					blame_at(t, t->at[i][x].wait, x, UNIT, 0, i);
		assert_int_equal(causes_world_root_ns(&w, CAUSE_NOBODY, CAUSE_KINDS),
				 causes_world_waited_ns(&w));
		direct_ns = 0;
		for (int how = 0; how < CAUSE_WAITS; how++)
			direct_ns += causes_world_ns(&w.causes.direct[how], CAUSE_NOBODY,
						     CAUSE_KINDS);
		assert_int_equal(direct_ns, causes_world_waited_ns(&w));
		for (uint32_t i = 0; i < RANKS; i++)
			roots_check(&w, t, i);
		causes_world_close(&w);
	}
	free(t);
}

/* More waits than are kept: following them must not take too long, and the sum stays right. */
TEST(many)
{
	struct causes_world w;
	uint64_t at = START;

	causes_world_open(&w);
	for (uint32_t i = 0; i < CAUSES_KEPT_MAX; i++, at += 100) {
		state_at(&w, 1, at, at + 50, THREAD_RUNNING);
		state_at(&w, 1, at + 50, at + 100, THREAD_BLOCKED);
		call_at(&w, 1, at + 60, at + 70);
		if (i % 4 == 0)
			told_receive(&w, 0, at + 10, 1, at + 60);
	}
	assert_true(w.causes.kept <= CAUSES_KEPT_MAX);
	causes_world_end(&w);
	/* Each 40 ns of computing make up for sleep since the last wait; before the first, none. */
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_COMPUTED), 50);
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_SLEPT),
			 50ull * (CAUSES_KEPT_MAX / 4) - 50);
	assert_int_equal(causes_world_root_ns(&w, CAUSE_NOBODY, CAUSE_KINDS),
			 causes_world_waited_ns(&w));
	assert_int_equal(w.causes.reported_late, 0);
	causes_world_close(&w);
}

/*
 * While rank 0 waits for rank 1, rank 2 changes its state so often that entries are dropped. The
 * entries of rank 1 must be kept.
 */
TEST(yields)
{
	struct causes_world w;
	uint64_t at = START;

	causes_world_open(&w);
	state_at(&w, 1, START, START + 1000, THREAD_BLOCKED);
	state_at(&w, 1, START + 1000, START + 5000, THREAD_RUNNING);
	for (uint32_t i = 0; i < CAUSES_KEPT_MAX; i++, at += 100) {
		state_at(&w, 2, at, at + 50, THREAD_RUNNING);
		state_at(&w, 2, at + 50, at + 100, THREAD_BLOCKED);
	}
	assert_true(w.causes.kept <= CAUSES_KEPT_MAX);
	told_receive(&w, 0, START, 1, START + 5000);
	causes_world_end(&w);
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_SLEPT), 1000);
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_COMPUTED), 4000);
	causes_world_close(&w);
}

/* A state of a rank and its length. A list of them, ended by 0 ns, leads to a call of MPI. */
struct state_step {
	enum thread_state state;
	uint64_t ns;
};

static uint64_t states_add(struct causes_world *w, int rank, const struct state_step *d)
{
	uint64_t at = START;

	call_at(w, rank, at - 100, at);
	for (; d->ns; d++) {
		state_at(w, rank, at, at + d->ns, d->state);
		at += d->ns;
	}
	return at;
}

#define RUNS(n)                   \
	{                         \
		THREAD_RUNNING, n \
	}
#define NO_CORE(n)                 \
	{                          \
		THREAD_RUNNABLE, n \
	}
#define SLEEPS(n)                 \
	{                         \
		THREAD_BLOCKED, n \
	}

/* A delay before others wait for the rank makes it as late as a delay while they wait. */
TEST(delays_before_the_wait)
{
	static const struct {
		struct state_step late[8], waiter[8];
		uint64_t computed, no_core, slept;
	} cases[] = {
		/* both compute as much: only the delay made it late */
		{{NO_CORE(40), RUNS(100)}, {RUNS(100)}, 0, 40, 0},
		{{SLEEPS(40), RUNS(100)}, {RUNS(100)}, 0, 0, 40},
		{{RUNS(50), NO_CORE(30), RUNS(50)}, {RUNS(100)}, 0, 30, 0},
		{{RUNS(50), NO_CORE(30), RUNS(40), NO_CORE(20), RUNS(10)}, {RUNS(100)}, 0, 50, 0},
		/* it also computes 60 longer */
		{{NO_CORE(40), RUNS(160)}, {RUNS(100)}, 60, 40, 0},
		/* the waiter was delayed as long, or for a part of that */
		{{NO_CORE(40), RUNS(160)}, {RUNS(100), NO_CORE(40)}, 60, 0, 0},
		{{NO_CORE(40), RUNS(160)}, {SLEEPS(10), RUNS(100)}, 60, 30, 0},
		/* two delays, in their order */
		{{SLEEPS(20), NO_CORE(30), RUNS(100)}, {RUNS(100)}, 0, 30, 20},
		/* delays while it is waited for count as themselves */
		{{RUNS(100), NO_CORE(40), RUNS(5)}, {RUNS(100)}, 5, 40, 0},
	};
	struct causes_world w;
	uint64_t late, waiter;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		causes_world_open(&w);
		late = states_add(&w, 1, cases[i].late);
		waiter = states_add(&w, 0, cases[i].waiter);
		call_at(&w, 0, waiter, late + 10);
		told_receive(&w, 0, waiter, 1, late);
		call_at(&w, 1, late, late + 10);
		causes_world_end(&w);
		assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_COMPUTED), cases[i].computed);
		assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_NO_CORE), cases[i].no_core);
		assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_SLEPT), cases[i].slept);
		assert_int_equal(causes_world_waited_ns(&w), late - waiter);
		causes_world_close(&w);
	}
}

/* A delay lasts over calls that wait for nobody, until others have waited for it. */
TEST(delays_before_other_calls)
{
	struct causes_world w;

	for (int awaited = 0; awaited < 2; awaited++) {
		causes_world_open(&w);
		call_at(&w, 1, START - 100, START);
		state_at(&w, 1, START, START + 40, THREAD_BLOCKED);
		state_at(&w, 1, START + 40, START + 200, THREAD_RUNNING);
		state_at(&w, 0, START, START + 200, THREAD_RUNNING);
		if (awaited) {
			call_at(&w, 0, START + 10, START + 46);
			told_receive(&w, 0, START + 10, 1, START + 45);
		}
		call_at(&w, 1, START + 45, START + 50);
		call_at(&w, 0, START + 100, START + 150);
		told_receive(&w, 0, START + 100, 1, START + 140);
		call_at(&w, 1, START + 140, START + 145);
		causes_world_end(&w);
		/* 35 of the first wait: 30 of sleep, 5 of computing after a sleep of 10 */
		assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_SLEPT), awaited ? 35 : 40);
		assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_COMPUTED), awaited ? 40 : 0);
		causes_world_close(&w);
	}
}
