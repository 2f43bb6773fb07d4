/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sweep and stop rule of the broadcast methods. A case's communicator holds the tasks that take part and no other, as in
 * the paper; the root of a method is its task 0. All of a case's tasks learn from task 0's word, given with the
 * synchronisation before each report, whether there is another one.
 */
#include "broadcast/rooted.h"
#include "broadcast/algorithms.h"
#include "base/human.h"
#include "base/log.h"
#include "core/estimate.h"
#include "core/place.h"
#include "core/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPORTS_MIN 8
#define REPORTS_MAX 30
#define STEADY_PCT 3.0
#define TAG_ACK 32
#define BUFFER_BYTES_MAX (256 << 20)
#define SEED 1999 /* of the data that is checked */

static void run_bcast(const struct rooted_case *rc, int root)
{
	bcast_run(rc->comm, (enum bcast_algorithm)rc->op->which, rc->in, rc->bytes, root);
}

const struct rooted_op rooted_bcasts[] = {
	{"bcast", "library", false, run_bcast, BCAST_LIBRARY},
	{"bcast", "linear", false, run_bcast, BCAST_LINEAR},
	{"bcast", "backward", false, run_bcast, BCAST_BACKWARD},
	{"bcast", "binomial", false, run_bcast, BCAST_BINOMIAL},
	{0},
};

/* The number of tasks after n; 0 after all. */
static int tasks_next(int n, int all)
{
	if (n >= all)
		return 0;
	return n > all / 2 ? all : 2 * n;
}

static size_t tasks_cnt(int all)
{
	size_t cnt = 0;
	int n;

	for (n = all < 2 ? 0 : 2; n; n = tasks_next(n, all))
		cnt++;
	return cnt;
}

static size_t op_cnt(const struct rooted_op *ops)
{
	size_t cnt = 0;

	while (ops[cnt].op)
		cnt++;
	return cnt;
}

static void sizes_init(struct sweep *sizes, const struct bench_run *run)
{
	/* Whole doubles, as reductions want them. */
	uint64_t min = run->opt->bytes_min, unit = sizeof(double);

	sweep_init(sizes, min < unit ? unit : min, run->opt->bytes_max, run->opt->step, unit, unit);
}

struct sweep_state {
	struct bench_run *run;
	void (*method)(struct bench_run *run, const struct rooted_case *rc);
	struct sweep sizes;
	size_t done, all;
};

/* The data that arrives is looked at once a case, outside of what is measured. */
static void check_data(const struct rooted_case *rc)
{
	uint32_t seed = SEED + (rc->comm->rank ? 1 : 0);

	bench_buffer_fill(rc->in, rc->bytes, COMM_CONTIGUOUS, seed);
	rc->op->run(rc, 0);
	bench_buffer_check(rc->in, rc->bytes, COMM_CONTIGUOUS, SEED);
}

static void run_case(struct sweep_state *st, const struct rooted_case *rc)
{
	struct comm *c = rc->comm;
	char size[HUMAN_BYTES], mark[64];

	/* A mark has 32 characters: what can be spared comes last. */
	snprintf(mark, sizeof(mark), "%s, %d tasks, %s, %s", rc->op->op, c->size,
		 human_bytes(size, sizeof(size), rc->bytes), rc->op->algorithm);
	c->ops->mark_begin(c, 1, mark);
	if (st->run->opt->validate && !rc->op->blocks)
		check_data(rc);
	st->method(st->run, rc);
	c->ops->mark_end(c, 1);
}

/* Blocks per buffer: a sweep has only operations of a sort. */
static size_t block_cnt(const struct comm *c, const struct rooted_op *ops)
{
	return ops->blocks ? (size_t)c->size : 1;
}

static void run_size(struct sweep_state *st, struct comm *c, const struct rooted_op *ops,
		     size_t bytes)
{
	size_t room = bytes * block_cnt(c, ops);
	struct rooted_case rc = {
		.comm = c,
		.bytes = bytes,
		.repeat = st->run->opt->repeat ? st->run->opt->repeat : 1,
		.time_ns = st->run->opt->point_ns,
	};

	rc.in = bench_buffer_new(room, COMM_CONTIGUOUS);
	rc.out = bench_buffer_new(room, COMM_CONTIGUOUS);
	/* Numbers that can be added up for ever. */
	memset(rc.in, 0, room);
	for (rc.op = ops; rc.op->op; rc.op++) {
		run_case(st, &rc);
		st->done++;
		if (c->rank == 0 && st->run->progress)
			st->run->progress(st->run->progress_ctx, st->done, st->all);
	}
	free(rc.in);
	free(rc.out);
}

/* The tasks of a case; the others sleep meanwhile, as waiting would take the cores from them. */
static void run_tasks(struct sweep_state *st, struct comm *c, const struct rooted_op *ops)
{
	char size[HUMAN_BYTES];
	size_t i, bytes;

	for (i = 0; i < st->sizes.cnt; i++) {
		bytes = (size_t)st->sizes.value[i];
		if (bytes * block_cnt(c, ops) <= BUFFER_BYTES_MAX) {
			run_size(st, c, ops, bytes);
			continue;
		}
		if (c->rank == 0)
			log_warn(
				"%s from each of %d tasks are left out: buffers of more than %d MiB",
				human_bytes(size, sizeof(size), bytes), c->size,
				BUFFER_BYTES_MAX >> 20);
		st->done += op_cnt(ops);
	}
}

int rooted_sweep(struct bench_run *run, const struct rooted_op *ops,
		 void (*method)(struct bench_run *run, const struct rooted_case *rc))
{
	struct sweep_state st = {.run = run, .method = method};
	struct comm *all = run->comm, *c;
	int n, rank;

	sizes_init(&st.sizes, run);
	st.all = tasks_cnt(all->size) * st.sizes.cnt * op_cnt(ops);
	for (n = all->size < 2 ? 0 : 2; n; n = tasks_next(n, all->size)) {
		c = all->ops->first(all, n);
		if (!c) {
			place_rest(all);
			continue;
		}
		run_tasks(&st, c, ops);
		for (rank = n; all->rank == 0 && rank < all->size; rank++)
			place_wake(all, rank);
		c->ops->free(c);
	}
	sweep_release(&st.sizes);
	return 0;
}

uint64_t rooted_estimate_ns(const struct bench_run *run, const struct rooted_op *ops, int cases)
{
	double points, report_ns, ns = 0;
	struct sweep sizes;
	int n;

	sizes_init(&sizes, run);
	points = (double)sizes.cnt * (double)op_cnt(ops) * cases;
	for (n = run->comm->size < 2 ? 0 : 2; n; n = tasks_next(n, run->comm->size)) {
		/* One is taken to its end, however long it is. */
		report_ns = (double)run->opt->repeat * n * estimate_wait_ns(run, n);
		ns += points * ((double)run->opt->point_ns + report_ns);
	}
	sweep_release(&sizes);
	return (uint64_t)ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Only task 0 knows; the others' answer is not heard. */
static bool wants_more(const struct bench_options *opt, const struct samples *s, bool late)
{
	if (s->cnt < least(REPORTS_MIN, opt->samples))
		return s->cnt < 1 || !late;
	return !late && s->cnt < least(REPORTS_MAX, opt->samples_max) &&
	       !stats_steady(s, STEADY_PCT);
}

bool rooted_reports(struct bench_run *run, const struct rooted_case *rc,
		    double (*report)(const struct rooted_case *rc, void *ctx), void *ctx,
		    uint64_t limit_ns, struct samples *out)
{
	struct comm *c = rc->comm;
	uint64_t begin = c->ops->now_ns(c);
	bool more = true;
	double ns;

	while (comm_sync(c, more)) {
		ns = report(rc, ctx);
		if (c->rank)
			continue;
		samples_add(out, ns);
		more = wants_more(run->opt, out, limit_ns && c->ops->now_ns(c) - begin > limit_ns);
	}
	return c->rank == 0 && stats_steady(out, STEADY_PCT);
}

struct result_point *rooted_point_add(struct bench_run *run, const struct rooted_case *rc,
				      const char *method)
{
	struct result_point *p = result_point_add(run->result);

	result_param_text(p, "method", method);
	result_param_text(p, "op", rc->op->op);
	result_param_text(p, "algorithm", rc->op->algorithm);
	result_param(p, "tasks", (uint64_t)rc->comm->size);
	result_param(p, "bytes", rc->bytes);
	return p;
}

void rooted_measure(struct bench_run *run, const struct rooted_case *rc, const char *method,
		    double (*report)(const struct rooted_case *rc, void *ctx), void *ctx)
{
	struct result_point *p;
	struct samples s;
	bool steady;

	samples_init(&s);
	steady = rooted_reports(run, rc, report, ctx, rc->time_ns, &s);
	if (rc->comm->rank == 0) {
		p = rooted_point_add(run, rc, method);
		result_time(p, "latency", &s);
		result_value(p, "steady", steady);
	}
	samples_release(&s);
}

void rooted_ack_send(struct comm *c, int task)
{
	struct comm_msg m = {NULL, 0, COMM_CONTIGUOUS};

	c->ops->send(c, &m, task, TAG_ACK);
}

void rooted_ack_recv(struct comm *c, int task)
{
	struct comm_msg m = {NULL, 0, COMM_CONTIGUOUS};

	c->ops->recv(c, &m, task, TAG_ACK);
}
