/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The common part of all methods for operations with a root. It sweeps over operations, numbers of
 * tasks (the first 2, 4, 8 … ranks and all, or those asked for) and message sizes. It applies the
 * paper's rules for the end of repetition (de Supinski & Karonis 1999, section 3). A method only
 * measures one case.
 */
#ifndef POVBENCH_BROADCAST_ROOTED_H
#define POVBENCH_BROADCAST_ROOTED_H

#include "core/bench.h"

struct rooted_case;

/* One variant of an operation. Lists end with a null op. In a list, all have blocks or none has. */
struct rooted_op {
	const char *op, *algorithm; /* as results name them */
	bool blocks;		    /* has a block for each task instead of one for all */
	void (*run)(const struct rooted_case *rc, int root);
	int which; /* for run */
};

/* A point of the sweep, from the view of one of its tasks. */
struct rooted_case {
	struct comm *comm; /* the tasks of this case */
	const struct rooted_op *op;
	size_t bytes;
	/*
	 * Buffers for one block, or for one block for each task. A broadcast's root sends `out`
	 * and the others receive into `in`. So no task sends data that it has just received, even
	 * if it is the root of the next broadcast.
	 */
	void *in, *out;
	uint64_t repeat;  /* M */
	uint64_t time_ns; /* time limit for this case; 0: none */
};

/* The library's broadcast and ours. */
extern const struct rooted_op rooted_bcasts[];

struct rooted_method {
	const struct rooted_op *ops;
	/* Called on each task of each case. Ranks outside of a case wait for the next one. */
	void (*measure)(struct bench_run *run, const struct rooted_case *rc);
	int cases; /* measurements of a case; 0: one */
};

/* run and estimate_ns of benchmarks with a struct rooted_method as method. */
int rooted_run(struct bench_run *run);
uint64_t rooted_estimate_ns(const struct bench_run *run);

/* Members shared by all benchmarks with a struct rooted_method as method. */
#define ROOTED(method_of)                                                                       \
	.group = "broadcast", .kind = RESULT_BROADCAST, .ranks_min = 2, .method = &(method_of), \
	.run = rooted_run, .estimate_ns = rooted_estimate_ns

/* How the reports turned out; known on task 0. */
struct rooted_outcome {
	bool steady;  /* the reported test met the stop rule */
	int test_cnt; /* number of tests */
	size_t first; /* index of that test's first call of report, counting the warm-up's */
};

/*
 * Calls `report` on all tasks until a test meets the stop rule. Its return value on task 0 is the
 * sample: ns of one operation. A test has 8 to 30 reports, and ends when their standard deviation
 * is below 3 % of the mean. A test that ends otherwise is repeated, as in the paper, at most
 * twice; then the steadiest one counts. There are fewer reports or tests if the options ask for
 * fewer samples, or if limit_ns (0: none) runs out. A first report of the options' `warmup`
 * operations (100 if it is not set) is discarded. Fills out on task 0.
 */
struct rooted_outcome rooted_reports(struct bench_run *run, const struct rooted_case *rc,
				     double (*report)(const struct rooted_case *rc, void *ctx),
				     void *ctx, uint64_t limit_ns, struct samples *out);

/* Adds a point with the case's parameters and the method's name, on task 0 only. */
struct result_point *rooted_point_add(struct bench_run *run, const struct rooted_case *rc,
				      const char *method);
/* Adds the values "steady" and "tests". */
void rooted_outcome_add(struct result_point *p, const struct rooted_outcome *o);
/*
 * A complete method that consists only of its report: adds a point with the time "latency" and the
 * values "steady" and "tests".
 */
void rooted_measure(struct bench_run *run, const struct rooted_case *rc, const char *method,
		    double (*report)(const struct rooted_case *rc, void *ctx), void *ctx);

/* Send or receive an empty message, to or from one task or (receiving) any task. */
void rooted_ack_send(struct comm *c, int task);
void rooted_ack_recv(struct comm *c, int task);

#endif
