/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the methods for operations with a root share: the sweep over operations, numbers of tasks (the first 2, 4, 8 … of
 * all, and all, or as asked for) and message sizes, and the paper's rules for when a measurement has been repeated enough
 * (de Supinski & Karonis 1999, section 3). A method is then only what it does in one case.
 */
#ifndef POVBENCH_BROADCAST_ROOTED_H
#define POVBENCH_BROADCAST_ROOTED_H

#include "core/bench.h"

struct rooted_case;

/* One way to do one operation; lists of them end with a null op, and all have blocks or none. */
struct rooted_op {
	const char *op, *algorithm; /* as results name them */
	bool blocks;		    /* takes or gives a block for each task, not one for all */
	void (*run)(const struct rooted_case *rc, int root);
	int which; /* for run */
};

/* A point of the sweep, as a task in it sees it. */
struct rooted_case {
	struct comm *comm; /* of the tasks in it */
	const struct rooted_op *op;
	size_t bytes;
	/*
	 * Blocks of that size: one, or one for each task. A broadcast's root sends `out` and the others receive into `in`:
	 * so no task sends what it has just received, whichever method makes it the root.
	 */
	void *in, *out;
	uint64_t repeat;  /* M */
	uint64_t time_ns; /* for all that is measured in this case; 0: as long as it takes */
};

/* The library's broadcast and ours (algorithms.h). */
extern const struct rooted_op rooted_bcasts[];

struct rooted_method {
	const struct rooted_op *ops;
	/* Called on each task of each case; whoever is not in a case waits for the next. */
	void (*measure)(struct bench_run *run, const struct rooted_case *rc);
	int cases; /* measurements of a case; 0: one */
};

/* Of a benchmark whose method is a struct rooted_method. */
int rooted_run(struct bench_run *run);
uint64_t rooted_estimate_ns(const struct bench_run *run);

/* How reports came out; known on task 0. */
struct rooted_outcome {
	bool steady;  /* the test that is told met the stop rule */
	int test_cnt; /* tests made */
	size_t first; /* which call of report was that test's first, the one to warm up included */
};

/*
 * Calls report, on all tasks, until a test has met the stop rule; what it returns on task 0 is the sample: ns of one
 * operation. A test has 8 to 30 reports, and ends when their standard deviation is less than 3 % of the mean. One that ends
 * without is made again, as the paper's were, twice at most; then the steadiest is told. Fewer reports or tests if the options
 * ask for fewer samples, or limit_ns, if not 0, runs out. Before the first report there is one of the options' `warmup`
 * operations (100 if they leave it open), which is thrown away. Out is filled on task 0.
 */
struct rooted_outcome rooted_reports(struct bench_run *run, const struct rooted_case *rc,
				     double (*report)(const struct rooted_case *rc, void *ctx),
				     void *ctx, uint64_t limit_ns, struct samples *out);

/* A point with the case's parameters and the method's name; task 0 only. */
struct result_point *rooted_point_add(struct bench_run *run, const struct rooted_case *rc,
				      const char *method);
/* Adds the values "steady" and "tests". */
void rooted_outcome_add(struct result_point *p, const struct rooted_outcome *o);
/* All of a method that is nothing but its report: a point with the time "latency" and these values. */
void rooted_measure(struct bench_run *run, const struct rooted_case *rc, const char *method,
		    double (*report)(const struct rooted_case *rc, void *ctx), void *ctx);

/* An empty message, and its receipt, from any task or a certain one. */
void rooted_ack_send(struct comm *c, int task);
void rooted_ack_recv(struct comm *c, int task);

#endif
