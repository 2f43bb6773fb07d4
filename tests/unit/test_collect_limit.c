/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Decisions of the limit on the cost of tracing, from made-up costs; and where real costs come from. */
#include <stdio.h>
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

static const char *const func_names[FUNCS] = {"HOT", "WARM", "SMALL", "WAITS"};

static uint16_t func_of(const char *name)
{
	for (uint16_t i = 0; i < FUNCS; i++)
		if (!strcmp(func_names[i], name))
			return i;
	assert_string_equal(name, "ALL");
	return POV_LIMIT_ALL;
}

/*
 * One decision. costs: "PROCESS FUNCTION NOW[/FULL], …" in percent, after "sampled: " for a look with a sample. The result is
 * "FUNCTION STATE PROCESS" for each change, of no process if the function returns.
 */
static void look(struct world *w, const char *costs, const char *wanted)
{
	static const char *const states[] = {[POV_LIMIT_RECORDED] = "recorded",
					     [POV_LIMIT_COUNTED] = "counted",
					     [POV_LIMIT_DETACHED] = "detached"};
	bool sampled = !strncmp(costs, "sampled:", 8);
	char *text = strdup(sampled ? costs + 8 : costs), *save = NULL, name[8], got[128] = "";
	size_t n, used = 0;

	w->cnt = 0;
	for (char *c = strtok_r(text, ",", &save); c; c = strtok_r(NULL, ",", &save)) {
		struct limit_cost *to = &w->cost[w->cnt++];

		n = (size_t)sscanf(c, " %u %7s %lf/%lf", &to->tgid, name, &to->now_pct,
				   &to->full_pct);
		assert_true(n >= 3);
		to->func = func_of(name);
		if (n == 3)
			to->full_pct = to->now_pct;
	}
	free(text);
	n = limit_decide(&w->limit, w->cost, w->cnt, sampled, w->out, &w->excess);
	for (size_t i = 0; i < n; i++)
		used += (size_t)sprintf(got + used, "%s%s %s %u", i ? ", " : "",
					func_names[w->out[i].func], states[w->out[i].state],
					w->out[i].tgid);
	assert_string_equal(got, wanted);
}

static void near(double pct, double wanted)
{
	assert_true(pct > wanted - 0.01 && pct < wanted + 0.01);
}

/* HOT costs 60 % of process 1 as recorded, 48 as counted, and is detached. */
static void storm(struct world *w)
{
	look(w, "1 HOT 60", "HOT counted 1");
	look(w, "1 HOT 48/60", "HOT detached 1");
	assert_int_equal(w->limit.detached, 1);
}

TEST_WITH(below, setup, teardown)
{
	struct world *w = *state;

	look(w, "1 HOT 3, 1 WARM 1.9, 2 HOT 4.9", "");
	assert_true(w->excess.pct == 0);
}

/* The costliest functions go first, until enough is saved; trifles and functions that wait for others stay. */
TEST_WITH(counting, setup, teardown)
{
	struct world *w = *state;

	look(w, "1 WAITS 1, 1 SMALL 0.2, 1 WARM 1.2, 1 HOT 3.6, 2 HOT 0.1",
	     "HOT counted 1, WARM counted 1");
	near(w->out[0].pct, 6);
	assert_int_equal(w->limit.func[SMALL].state, POV_LIMIT_RECORDED);
	assert_true(w->excess.pct == 0);
	/* that was enough: the cost is below the limit now, and would exceed it with them */
	look(w, "1 WAITS 1, 1 WARM 0.96/1.2, 1 HOT 2.88/3.6", "");
	assert_int_equal(w->limit.func[HOT].state, POV_LIMIT_COUNTED);
}

/* If few functions save enough, the others stay. Samples have their share: the rest must be below 4. */
TEST_WITH(few, setup, teardown)
{
	struct world *w = *state;

	storm(w);
	look(w, "1 WARM 4.2, 1 SMALL 0.5, 1 HOT 3/60", "WARM counted 1");
}

/* The process with the highest cost decides. */
TEST_WITH(processes, setup, teardown)
{
	struct world *w = *state;

	look(w, "7 HOT 30, 3 HOT 20, 9 HOT 1", "HOT counted 7");
	near(w->out[0].pct, 30);
}

/* A function returns after three calm samples in a row; a look without a sample does not count. */
TEST_WITH(return, setup, teardown)
{
	struct world *w = *state;

	storm(w);
	look(w, "sampled: 1 HOT 0/0.1", "");
	look(w, "sampled: 1 HOT 0/0.1", "");
	look(w, "sampled: 1 HOT 0/40", ""); /* not calm after all */
	for (int i = 0; i < 2; i++) {
		look(w, "sampled:", ""); /* no call at all is calm, too */
		look(w, "", "");
	}
	look(w, "sampled:", "HOT recorded 0");
	assert_int_equal(w->limit.detached, 0);
	/* the second time it takes six */
	storm(w);
	for (int i = 0; i < 5; i++)
		look(w, "sampled:", "");
	look(w, "sampled:", "HOT recorded 0");
}

/* Two functions that would be too much together return one by one, the cheaper one first. */
TEST_WITH(return_one, setup, teardown)
{
	struct world *w = *state;

	look(w, "1 HOT 60, 1 WARM 30", "HOT counted 1, WARM counted 1");
	look(w, "1 HOT 48/60, 1 WARM 24/30", "HOT detached 1, WARM detached 1");
	assert_int_equal(w->limit.detached, 2);
	for (int i = 0; i < 3; i++)
		look(w, "sampled: 1 HOT 0/3, 1 WARM 0/2, 2 HOT 0/0.1",
		     i < 2 ? "" : "WARM recorded 0");
}

/* What waits for others stays, and what has no row; the excess names the process and the cost. */
TEST_WITH(excess, setup, teardown)
{
	struct world *w = *state;

	look(w, "4 WAITS 12, 4 ALL 1, 5 WAITS 9", "");
	assert_int_equal(w->excess.tgid, 4);
	near(w->excess.pct, 13);
	assert_int_equal(w->limit.func[WAITS].state, POV_LIMIT_RECORDED);
}

/* During an excess functions that only other processes call return, and functions of that process do not. */
TEST_WITH(excess_elsewhere, setup, teardown)
{
	struct world *w = *state;

	look(w, "1 HOT 60, 1 WARM 30", "HOT counted 1, WARM counted 1");
	for (int i = 0; i < 3; i++) {
		look(w, "1 HOT 0.1, 1 WARM 0.1, 4 WAITS 12, 4 WARM 0.1",
		     i < 2 ? "" : "HOT recorded 0");
		assert_int_equal(w->excess.tgid, 4);
	}
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
	near(c->now_pct, 5); /* 10 x 5 of 1000 */
	c = cost_of(&costs, row("MPI_Isend"));
	assert_non_null(c);
	assert_int_equal(c->tgid, 30);
	near(c->now_pct, 16);  /* 20 x 8 */
	near(c->full_pct, 20); /* 20 x 10 */
	/* 50 are told, among them those; 5 have been made since. 35 are new. */
	costs.cnt = 0;
	toll_record(&t, &told.hdr);
	toll_open_begin(&t);
	gathers(&thread, 10, 5);
	toll_open_thread(&t, &thread);
	toll_look(&t, &cost, 1000, &costs);
	c = cost_of(&costs, row("MPI_Isend"));
	assert_non_null(c);
	near(c->full_pct, 35);
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
