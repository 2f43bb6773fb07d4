/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What the limit on the cost of tracing decides, from costs that are made up; and where these come from. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "abi/config.h"
#include "abi/thread.h"
#include "collect/limit.h"
#include "collect/toll_window.h"
#include "layer/func_table.h"

/* Functions: two that may be given up and cost much, a small one, and one that waits for others. */
enum { HOT, WARM, SMALL, WAITS, FUNCS };

struct world {
	struct limit limit;
	struct limit_cost cost[16];
	size_t cnt;
	struct limit_change out[FUNCS];
	struct limit_excess excess;
};

static int setup(void **state)
{
	static const bool may_shed[FUNCS] = {[HOT] = true, [WARM] = true, [SMALL] = true};
	struct world *w = calloc(1, sizeof(*w));

	limit_init(&w->limit, 5, 0.8, may_shed, FUNCS);
	*state = w;
	return !w;
}

static int teardown(void **state)
{
	struct world *w = *state;

	limit_release(&w->limit);
	free(w);
	return 0;
}

static void costs(struct world *w, uint32_t tgid, uint16_t func, double now_pct, double full_pct)
{
	w->cost[w->cnt++] = (struct limit_cost){tgid, func, now_pct, full_pct};
}

static size_t decide(struct world *w, bool sampled)
{
	size_t n = limit_decide(&w->limit, w->cost, w->cnt, sampled, w->out, &w->excess);

	w->cnt = 0;
	return n;
}

static void changed(const struct world *w, size_t i, uint16_t func, int to, uint32_t tgid)
{
	assert_int_equal(w->out[i].func, func);
	assert_int_equal(w->out[i].state, to);
	assert_int_equal(w->out[i].tgid, tgid);
}

/* HOT costs 60 % of process 1 as recorded, 48 as counted, and is detached. */
static void storm(struct world *w)
{
	costs(w, 1, HOT, 60, 60);
	assert_int_equal(decide(w, false), 1);
	changed(w, 0, HOT, POV_LIMIT_COUNTED, 1);
	costs(w, 1, HOT, 48, 60);
	assert_int_equal(decide(w, false), 1);
	changed(w, 0, HOT, POV_LIMIT_DETACHED, 1);
	assert_int_equal(w->limit.detached, 1);
}

TEST_WITH(below, setup, teardown)
{
	struct world *w = *state;

	costs(w, 1, HOT, 3, 3);
	costs(w, 1, WARM, 1.9, 1.9);
	costs(w, 2, HOT, 4.9, 4.9);
	assert_int_equal(decide(w, false), 0);
	assert_true(w->excess.pct == 0);
}

/* Costliest first, until enough is saved; what does not wait for others, and is no trifle. */
TEST_WITH(counting, setup, teardown)
{
	struct world *w = *state;

	costs(w, 1, WAITS, 1, 1);
	costs(w, 1, SMALL, 0.2, 0.2);
	costs(w, 1, WARM, 1.2, 1.2);
	costs(w, 1, HOT, 3.6, 3.6);
	costs(w, 2, HOT, 0.1, 0.1);
	assert_int_equal(decide(w, false), 2);
	changed(w, 0, HOT, POV_LIMIT_COUNTED, 1);
	changed(w, 1, WARM, POV_LIMIT_COUNTED, 1);
	assert_true(w->out[0].pct > 5.99 && w->out[0].pct < 6.01);
	assert_int_equal(w->limit.func[SMALL].state, POV_LIMIT_RECORDED);
	assert_true(w->excess.pct == 0);
	/* that was enough: below the limit, but with them it would be above it */
	costs(w, 1, WAITS, 1, 1);
	costs(w, 1, WARM, 0.96, 1.2);
	costs(w, 1, HOT, 2.88, 3.6);
	assert_int_equal(decide(w, false), 0);
	assert_int_equal(w->limit.func[HOT].state, POV_LIMIT_COUNTED);
}

/* If enough can be saved by few, the others are left alone. */
TEST_WITH(few, setup, teardown)
{
	struct world *w = *state;

	storm(w);
	costs(w, 1, WARM, 4.2, 4.2); /* samples have their share: it must be below 4 */
	costs(w, 1, SMALL, 0.5, 0.5);
	costs(w, 1, HOT, 3, 60); /* a sample: does not count */
	assert_int_equal(decide(w, false), 1);
	changed(w, 0, WARM, POV_LIMIT_COUNTED, 1);
}

/* The process that it costs most decides, and the change is told once. */
TEST_WITH(processes, setup, teardown)
{
	struct world *w = *state;

	costs(w, 7, HOT, 30, 30);
	costs(w, 3, HOT, 20, 20);
	costs(w, 9, HOT, 1, 1);
	assert_int_equal(decide(w, false), 1);
	changed(w, 0, HOT, POV_LIMIT_COUNTED, 7);
	assert_true(w->out[0].pct > 29.9 && w->out[0].pct < 30.1);
}

/* It comes back after three calm samples in a row; a look without a sample says nothing. */
TEST_WITH(return, setup, teardown)
{
	struct world *w = *state;

	storm(w);
	for (int i = 0; i < 2; i++) {
		costs(w, 1, HOT, 0, 0.1);
		assert_int_equal(decide(w, true), 0);
	}
	costs(w, 1, HOT, 0, 40); /* not calm after all */
	assert_int_equal(decide(w, true), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(decide(w, true), 0); /* no call at all is calm, too */
		assert_int_equal(decide(w, false), 0);
	}
	assert_int_equal(decide(w, true), 1);
	changed(w, 0, HOT, POV_LIMIT_RECORDED, 0);
	assert_int_equal(w->limit.detached, 0);
	/* the second time it takes six */
	storm(w);
	for (int i = 0; i < 5; i++)
		assert_int_equal(decide(w, true), 0);
	assert_int_equal(decide(w, true), 1);
}

/* Two that would be too much together come back one by one, the cheaper one first. */
TEST_WITH(return_one, setup, teardown)
{
	struct world *w = *state;
	size_t n = 0;

	costs(w, 1, HOT, 60, 60);
	costs(w, 1, WARM, 30, 30);
	assert_int_equal(decide(w, false), 2);
	costs(w, 1, HOT, 48, 60);
	costs(w, 1, WARM, 24, 30);
	assert_int_equal(decide(w, false), 2);
	assert_int_equal(w->limit.detached, 2);
	for (int i = 0; i < 3; i++) {
		costs(w, 1, HOT, 0, 3);
		costs(w, 1, WARM, 0, 2);
		costs(w, 2, HOT, 0, 0.1);
		n = decide(w, true);
	}
	assert_int_equal(n, 1);
	changed(w, 0, WARM, POV_LIMIT_RECORDED, 0);
}

/* What waits for others stays, and what has no row; that the limit was exceeded is told, by how much and whose. */
TEST_WITH(excess, setup, teardown)
{
	struct world *w = *state;

	costs(w, 4, WAITS, 12, 12);
	costs(w, 4, POV_LIMIT_ALL, 1, 1);
	costs(w, 5, WAITS, 9, 9);
	assert_int_equal(decide(w, false), 0);
	assert_int_equal(w->excess.tgid, 4);
	assert_true(w->excess.pct > 12.9 && w->excess.pct < 13.1);
	assert_int_equal(w->limit.func[WAITS].state, POV_LIMIT_RECORDED);
}

/* Meanwhile what only others call comes back, and what it calls does not. */
TEST_WITH(excess_elsewhere, setup, teardown)
{
	struct world *w = *state;
	size_t n = 0;

	costs(w, 1, HOT, 60, 60);
	costs(w, 1, WARM, 30, 30);
	assert_int_equal(decide(w, false), 2);
	for (int i = 0; i < 3; i++) {
		costs(w, 1, HOT, 0.1, 0.1);
		costs(w, 1, WARM, 0.1, 0.1);
		costs(w, 4, WAITS, 12, 12);
		costs(w, 4, WARM, 0.1, 0.1);
		n = decide(w, false);
		assert_int_equal(w->excess.tgid, 4);
	}
	assert_int_equal(n, 1);
	changed(w, 0, HOT, POV_LIMIT_RECORDED, 0);
}

/* ---- where costs come from ---- */

static const struct probe_cost cost = {.call_ns = 10, .spin_ns = 5, .counted_ns = 8, .samples = 1};

static uint16_t row(const char *name)
{
	int i = func_table_find(name);

	assert_true(i >= 0);
	return (uint16_t)i;
}

static const struct limit_cost *cost_of(const struct toll_costs *c, uint16_t func)
{
	for (size_t i = 0; i < c->cnt; i++)
		if (c->v[i].func == func)
			return &c->v[i];
	return NULL;
}

/* A thread that has made so many calls in a spin, and so many that were counted, and told nobody. */
static void gathers(struct pov_thread *t, uint64_t polls, uint64_t counted)
{
	struct pov_spin *s = (struct pov_spin *)t->spin[0].rec;

	*t = (struct pov_thread){.tid = 31, .tgid = 30, .spinning = 1};
	s->nfuncs = 1;
	s->func[0].func = row("MPI_Test");
	s->func[0].cnt = polls;
	t->counting[0] = (struct pov_counting){.calls = counted, .func = row("MPI_Isend")};
}

TEST(window)
{
	struct pov_counted told = {
		.hdr = {.size = sizeof(told), .kind = POV_KIND_COUNTED, .tid = 31},
		.calls = 50,
		.tgid = 30,
		.func = row("MPI_Isend")};
	const struct limit_cost *c;
	struct toll_costs costs = {0};
	struct toll t = {0};
	struct pov_thread thread;

	toll_open_begin(&t);
	gathers(&thread, 10, 20);
	toll_open_thread(&t, &thread);
	toll_look(&t, &cost, 1000, &costs);
	c = cost_of(&costs, row("MPI_Test"));
	assert_non_null(c);
	assert_true(c->now_pct > 4.99 && c->now_pct < 5.01); /* 10 x 5 of 1000 */
	c = cost_of(&costs, row("MPI_Isend"));
	assert_non_null(c);
	assert_int_equal(c->tgid, 30);
	assert_true(c->now_pct > 15.99 && c->now_pct < 16.01);	 /* 20 x 8 */
	assert_true(c->full_pct > 19.99 && c->full_pct < 20.01); /* 20 x 10 */
	/* 50 are told, among them those; 5 have been made since. 35 are new. */
	costs.cnt = 0;
	toll_record(&t, &told.hdr);
	toll_open_begin(&t);
	gathers(&thread, 10, 5);
	toll_open_thread(&t, &thread);
	toll_look(&t, &cost, 1000, &costs);
	c = cost_of(&costs, row("MPI_Isend"));
	assert_non_null(c);
	assert_true(c->full_pct > 34.99 && c->full_pct < 35.01);
	assert_null(cost_of(&costs, row("MPI_Test")));
	toll_costs_release(&costs);
	toll_release(&t);
}

/* Of the table's own rows: what waits for others, or tells who belongs to whom, is always recorded. */
TEST(rows)
{
	static const char *const may[] = {"MPI_Isend", "MPI_Irecv", "MPI_Test",	  "MPI_Iprobe",
					  "MPI_Put",   "MPI_Wtime", "MPI_Ibcast", "MPI_Comm_rank"};
	static const char *const never[] = {"MPI_Send",	    "MPI_Recv",	     "MPI_Wait",
					    "MPI_Barrier",  "MPI_Init",	     "MPI_Finalize",
					    "MPI_Comm_dup", "MPI_Comm_free", "MPI_Type_free"};

	for (size_t i = 0; i < sizeof(may) / sizeof(*may); i++)
		assert_true(func_table_may_shed(row(may[i])));
	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
		assert_false(func_table_may_shed(row(never[i])));
}
