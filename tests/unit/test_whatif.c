/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The run without certain waits: by hand, and on random programs. Each random program runs twice,
 * with and without what is left out. The gain must be the difference, to the nanosecond.
 */
#include "unit/test.h"
#include "analysis/whatif.h"
#include "analysis/finding.h"
#include "unit/model_fixture.h"

#define RANKS 4
#define START 1000
#define STEPS 400
#define TRANSFER_NS 70
#define BARRIER_NS 11

static const struct func_info send_func = {
	.name = "MPI_Send", .group_bit = GROUP_P2P, .layer_name = "mpi"};
static const struct func_info recv_func = {
	.name = "MPI_Recv", .group_bit = GROUP_P2P, .layer_name = "mpi"};
static const struct func_info barrier = {.id = 4,
					 .name = "MPI_Barrier",
					 .group_bit = GROUP_COLL,
					 .layer_name = "mpi",
					 .waits = true};
static const struct func_info bcast = {
	.id = 1, .name = "MPI_Bcast", .group_bit = GROUP_COLL, .layer_name = "mpi", .waits = true};

struct world {
	struct mfix f;
	struct model_thread thread[RANKS];
	struct findings findings;
	struct whatif *whatif;
	uint64_t now[RANKS];   /* each rank's time in the recording … */
	uint64_t other[RANKS]; /* … and in the changed run */
	/* The longest path of time outside MPI that leads to each rank. */
	uint64_t outside[RANKS];
	uint64_t inside[RANKS]; /* same, for time in a part of the program */
	uint64_t since[RANKS];	/* begin of its stay in that part; 0: outside */
	struct whatif_stretch stretch[RANKS][STEPS];
	uint32_t nstretch[RANKS];
	/* In the changed run: the end of the last transfer that the rank began. */
	uint64_t carried[RANKS];
	uint64_t seed;
};

static void world_open(struct world *w)
{
	memset(w, 0, sizeof(*w));
	mfix_ranks(&w->f, "\"sched\":\"all\",\"rings\":1", RANKS, w->thread);
	for (uint32_t i = 0; i < RANKS; i++)
		w->now[i] = w->other[i] = START;
	w->whatif = whatif_new(w->f.model);
	whatif_attach(w->whatif, &w->findings.late, &w->findings.arrivals, &w->findings.holders);
}

static void world_close(struct world *w)
{
	whatif_free(w->whatif);
	mfix_release(&w->f);
}

static uint32_t dice(struct world *w, uint32_t n)
{
	w->seed = w->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)((w->seed >> 33) % n);
}

/* ---- what is told ---- */

static void call_at(struct world *w, int rank, const struct func_info *func, uint64_t begin_ns,
		    uint64_t end_ns)
{
	const struct model_call c = {.func = func,
				     .thread = &w->thread[rank],
				     .begin_ns = begin_ns,
				     .end_ns = end_ns,
				     .site = {.address = (uintptr_t)func}};
	const struct model_sink *s = whatif_sink(w->whatif);

	s->call(s->ctx, &c);
}

static struct match_end end_of(struct world *w, int rank, const struct func_info *func,
			       uint64_t begin_ns, uint64_t completing_ns, uint64_t end_ns)
{
	return (struct match_end){.process = w->thread[rank].proc,
				  .thread = &w->thread[rank],
				  .completer = &w->thread[rank],
				  .func = func,
				  .begin_ns = begin_ns,
				  .completing_ns = completing_ns,
				  .waiting_ns = completing_ns,
				  .end_ns = end_ns};
}

static void told_match(struct world *w, struct match_end send, struct match_end recv, int64_t bytes)
{
	const struct match m = {.send = send, .recv = recv, .bytes = bytes};

	observers_notify(&w->findings.late.matched, &m);
}

static void told_no_core(struct world *w, int rank, int holder, uint64_t from_ns, uint64_t to_ns)
{
	observers_notify(&w->findings.holders.stretches,
			 &(struct held_stretch){&w->thread[rank], &w->thread[holder], from_ns,
						to_ns});
}

/* A collective call of all ranks. */
static void told_joint(struct world *w, const struct func_info *func, const uint64_t *begin_ns,
		       uint64_t end_ns)
{
	struct arrival_call call[RANKS];
	struct arrival_step *step;
	struct arrival_joint j = {.call = call, .calls = RANKS};

	for (int i = 0; i < RANKS; i++) {
		call_at(w, i, func, begin_ns[i], end_ns);
		call[i] = (struct arrival_call){.thread = &w->thread[i],
						.func = func,
						.begin_ns = begin_ns[i],
						.end_ns = end_ns,
						.waits = true};
	}
	step = arrival_steps(call, RANKS, &j.steps);
	j.step = step;
	observers_notify(&w->findings.arrivals.joints, &j);
	free(step);
}

/* ---- random programs ---- */

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

enum sends {
	SENDS_WAIT, /* wait for their receives */
	SENDS_AT_ONCE,
	/* As SENDS_AT_ONCE, and neither side takes part in the transfer. */
	SENDS_CARRIED,
	SENDS,
};

/* A message of blocking calls. In the recording, the send waits for its receive. */
static void message(struct world *w, int from, int to, enum sends how)
{
	uint64_t s = w->now[from], r = w->now[to], end_ns = most(s, r) + TRANSFER_NS;

	call_at(w, from, &send_func, s, end_ns);
	call_at(w, to, &recv_func, r, end_ns);
	told_match(w, end_of(w, from, &send_func, s, s, end_ns),
		   end_of(w, to, &recv_func, r, r, end_ns), 8);
	w->outside[to] = most(w->outside[to], w->outside[from]);
	w->inside[to] = most(w->inside[to], w->inside[from]);
	w->now[from] = w->now[to] = end_ns;
	s = w->other[from];
	r = w->other[to];
	if (how == SENDS_CARRIED) {
		w->carried[from] = most(w->carried[from], s) + TRANSFER_NS;
		w->other[to] = most(w->carried[from], r);
		return;
	}
	w->other[to] = most(s, r) + TRANSFER_NS;
	w->other[from] = (how == SENDS_AT_ONCE ? s : most(s, r)) + TRANSFER_NS;
}

static void meet(struct world *w)
{
	uint64_t last = 0, other = 0, outside = 0, inside = 0;

	for (int i = 0; i < RANKS; i++) {
		last = most(last, w->now[i]);
		outside = most(outside, w->outside[i]);
		inside = most(inside, w->inside[i]);
		other = most(other, w->other[i]);
	}
	told_joint(w, &barrier, w->now, last + BARRIER_NS);
	for (int i = 0; i < RANKS; i++) {
		w->now[i] = last + BARRIER_NS;
		w->other[i] = other + BARRIER_NS;
		w->outside[i] = outside;
		w->inside[i] = inside;
	}
}

/* Makes the rank enter or leave the part of the program. */
static void part_toggle(struct world *w, int rank, uint64_t ts_ns)
{
	uint64_t since = w->since[rank];

	w->since[rank] = since ? 0 : ts_ns;
	if (since && since < ts_ns)
		w->stretch[rank][w->nstretch[rank]++] = (struct whatif_stretch){since, ts_ns};
}

/* Spends time outside MPI; the rank may enter or leave the part meanwhile. */
static void outside(struct world *w, int rank, uint64_t ns)
{
	uint64_t before_ns = dice(w, (uint32_t)ns + 1);

	w->outside[rank] += ns;
	w->inside[rank] += w->since[rank] ? before_ns : 0;
	if (!dice(w, 3))
		part_toggle(w, rank, w->now[rank] + before_ns);
	w->inside[rank] += w->since[rank] ? ns - before_ns : 0;
}

/* Computes, partly without a core. The changed run gives it one. */
static void compute(struct world *w, int rank, bool changed)
{
	uint64_t ns = 1 + dice(w, 500), lost_ns = dice(w, 3) ? 0 : dice(w, 300);

	if (lost_ns)
		told_no_core(w, rank, (rank + 1) % RANKS, w->now[rank], w->now[rank] + lost_ns);
	outside(w, rank, ns + lost_ns);
	w->now[rank] += ns + lost_ns;
	w->other[rank] += ns + (changed ? 0 : lost_ns);
}

static bool sends_at_once(void *ctx, const struct whatif_dep *d, struct whatif_instead *instead)
{
	return d->kind == WHATIF_RECV_POSTED;
}

static bool sends_carried(void *ctx, const struct whatif_dep *d, struct whatif_instead *instead)
{
	if (d->kind == WHATIF_SEND_POSTED)
		instead->transfer_ns = TRANSFER_NS;
	else
		instead->extra_ns = -2 * TRANSFER_NS; /* no call takes less than 0 */
	return d->kind == WHATIF_RECV_POSTED;
}

static uint64_t all_of_it(void *ctx, const struct whatif_no_core *n)
{
	return n->to_ns - n->from_ns;
}

static uint64_t last_of(const uint64_t *ns)
{
	uint64_t last = 0;

	for (int i = 0; i < RANKS; i++)
		last = most(last, ns[i]);
	return last;
}

/* Returns the longest path according to whatif.h. */
static uint64_t longest_of(struct world *w)
{
	struct whatif_part *part = calloc(model_thread_count(w->f.model) + RANKS, sizeof(*part));
	struct whatif_stretch whole[RANKS];
	uint64_t ns;

	assert_non_null(part);
	for (int i = 0; i < RANKS; i++) {
		whole[i] = (struct whatif_stretch){START, w->now[i]};
		part[w->thread[i].idx] = (struct whatif_part){&whole[i], 1, true, true};
	}
	ns = whatif_longest_ns(w->whatif, part);
	free(part);
	return ns;
}

/* Like longest_of(), for the part. */
static uint64_t longest_inside(struct world *w)
{
	struct whatif_part *part = calloc(model_thread_count(w->f.model) + RANKS, sizeof(*part));
	uint64_t ns;

	assert_non_null(part);
	for (int i = 0; i < RANKS; i++) {
		if (w->since[i])
			part_toggle(w, i, w->now[i]);
		part[w->thread[i].idx] = (struct whatif_part){w->stretch[i], w->nstretch[i], true,
							      true};
	}
	ns = whatif_longest_ns(w->whatif, part);
	free(part);
	return ns;
}

TEST(random)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		enum sends how = seed % SENDS;
		bool cores = seed & 2;
		const struct whatif_change change = {
			.leave_out = how == SENDS_CARRIED ? sends_carried :
				     how == SENDS_AT_ONCE ? sends_at_once :
							    NULL,
			.give_core = cores ? all_of_it : NULL,
		};
		struct world w;
		uint64_t gain_ns;

		world_open(&w);
		w.seed = seed;
		for (int step = 0; step < STEPS; step++) {
			int from = (int)dice(&w, RANKS), to = (int)(from + 1 + dice(&w, RANKS - 1));

			compute(&w, from, cores);
			if (dice(&w, 20))
				message(&w, from, to % RANKS, how);
			else
				meet(&w);
		}
		meet(&w);
		gain_ns = last_of(w.now) - last_of(w.other);
		assert_int_equal(whatif_run(w.whatif, &change), gain_ns);
		assert_true(gain_ns > 0 || (how == SENDS_WAIT && !cores));
		assert_int_equal(longest_of(&w), last_of(w.outside));
		assert_int_equal(longest_inside(&w), last_of(w.inside));
		assert_true(last_of(w.inside) > 0 && last_of(w.inside) < last_of(w.outside));
		/* again, and with nothing left out */
		assert_int_equal(whatif_run(w.whatif, &change), gain_ns);
		assert_int_equal(whatif_run(w.whatif, &(struct whatif_change){.ctx = NULL}), 0);
		world_close(&w);
	}
}

/* A recording that needs more memory than the limit is not kept at all, and has no result. */
TEST(bounded)
{
	struct world w;

	world_open(&w);
	whatif_limit(w.whatif, 100 * sizeof(uint64_t));
	message(&w, 0, 1, SENDS_WAIT);
	assert_false(whatif_is_full(w.whatif));
	for (int i = 0; i < 10; i++) {
		compute(&w, i % RANKS, false);
		message(&w, i % RANKS, (i + 1) % RANKS, SENDS_WAIT);
		meet(&w);
	}
	assert_true(whatif_is_full(w.whatif));
	assert_int_equal(whatif_run(w.whatif, &(struct whatif_change){.give_core = all_of_it}), 0);
	world_close(&w);
}

/* ---- by hand ---- */

static bool costs_more(void *ctx, const struct whatif_dep *d, struct whatif_instead *instead)
{
	instead->extra_ns = *(const int64_t *)ctx;
	return d->kind == WHATIF_RECV_POSTED;
}

/* A send waits 1,000 ns for its receive. Time that is added to both calls reduces the gain. */
TEST(extra)
{
	const int64_t extra_ns[] = {0, 100, 2000, -30};
	const uint64_t gain_ns[] = {1000, 900, 0, 1030};

	for (int i = 0; i < 4; i++) {
		const struct whatif_change change = {.leave_out = costs_more,
						     .ctx = (void *)&extra_ns[i]};
		struct world w;

		world_open(&w);
		call_at(&w, 0, &send_func, 2000, 3070);
		call_at(&w, 1, &recv_func, 3000, 3070);
		told_match(&w, end_of(&w, 0, &send_func, 2000, 2000, 3070),
			   end_of(&w, 1, &recv_func, 3000, 3000, 3070), 8);
		call_at(&w, 0, &barrier, 9000, 9010);
		assert_int_equal(whatif_run(w.whatif, &change), gain_ns[i]);
		world_close(&w);
	}
}

/* ---- shorter calls ---- */

static int64_t by_thread(void *ctx, uint32_t thread, uint64_t begin_ns, int64_t own_ns)
{
	const int64_t *by = ctx;

	assert_true(begin_ns >= 2000 && own_ns >= 0 && own_ns <= 1000);
	return by[thread] < own_ns ? by[thread] : own_ns;
}

static uint64_t gain_of(struct world *w, const int64_t *by)
{
	const struct whatif_change change = {.shorten = by_thread, .ctx = (void *)by};

	return whatif_run(w->whatif, &change);
}

/* Two calls. Rank 3 is last in both and computes in between. */
TEST(shorten)
{
	static const uint64_t first[RANKS] = {2000, 2000, 2000, 2000},
			      second[RANKS] = {3100, 3100, 3100, 8000};
	static const int64_t none[RANKS] = {0}, all[RANKS] = {400, 400, 400, 400},
			     three[RANKS] = {400, 400, 400, 0}, last[RANKS] = {0, 0, 0, 400},
			     longer[RANKS] = {-400, -400, -400, -400},
			     most[RANKS] = {5000, 5000, 5000, 5000};
	struct world w;

	world_open(&w);
	told_joint(&w, &bcast, first, 3000);
	told_joint(&w, &bcast, second, 9000);
	assert_int_equal(gain_of(&w, none), 0);
	assert_int_equal(gain_of(&w, all), 800);
	/*
	 * Three ranks gain nothing by arriving faster where they wait for the fourth, which takes
	 * as long as before.
	 */
	assert_int_equal(gain_of(&w, three), 0);
	/*
	 * The fourth arrives 400 earlier and is done 800 earlier; the others are done 400 earlier.
	 */
	assert_int_equal(gain_of(&w, last), 400);
	assert_int_equal(gain_of(&w, longer), 0);
	assert_int_equal(gain_of(&w, most), 2000);
	world_close(&w);
}

/* A call waits for two messages at once, the next one for a third. */
TEST(once)
{
	const struct whatif_dep waits[] = {
		{.thread = 1, .begin_ns = 100, .end_ns = 500, .on_ns = 300},
		{.thread = 1, .begin_ns = 100, .end_ns = 500, .on_ns = 400},
		{.thread = 1, .begin_ns = 100, .end_ns = 500, .on_ns = 350},
		{.thread = 1, .begin_ns = 600, .end_ns = 900, .on_ns = 700},
	};
	struct whatif_once once = {0};

	assert_int_equal(whatif_once_ns(&once, &waits[0]), 200);
	assert_int_equal(whatif_once_ns(&once, &waits[1]), 100);
	assert_int_equal(whatif_once_ns(&once, &waits[2]), 0);
	assert_int_equal(whatif_once_ns(&once, &waits[3]), 100);
}
