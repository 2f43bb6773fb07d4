/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sweep and stop rule of the broadcast methods. A case's communicator has only the tasks that take
 * part, as in the paper, and its task 0 is the root. The word that task 0 sends with the
 * synchronisation before each report tells all of these tasks whether there is another report.
 */
#include "broadcast/rooted.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/u64.h"
#include "core/bench.h"
#include "core/param_text.h"
#include "core/comm.h"
#include "core/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPORTS_MIN 8
#define REPORTS_MAX 30
#define TESTS_MAX 3
#define SETTLE_OPERATIONS 100 /* before the first report, unless the options set it */
#define STEADY_PCT 3.0
enum { TAG_BCAST = 31, TAG_ACK };
#define BUFFER_BYTES_MAX (256 << 20)
#define SEED 1999 /* of the data for validation */

/* ---- broadcasts ---- */

/*
 * Broadcasts that serve to judge the methods (de Supinski & Karonis 1999, sections 2 and 3). The
 * library's broadcast has an unknown pattern. The latency of the three others follows from their
 * pattern: a chain upwards (n - 1 hops), the same chain downwards, and a binomial tree (about log2
 * n). Each sends in the order of the paper's drawings, with blocking calls. A task returns as soon
 * as it has passed the message on, so the next broadcast may follow immediately. That is what
 * misleads most methods.
 */
enum bcast_algorithm {
	BCAST_LIBRARY,
	BCAST_LINEAR,	/* task i receives from i - 1, the root sends to root + 1 */
	BCAST_BACKWARD, /* task i receives from i + 1, the root sends to root - 1 */
	BCAST_BINOMIAL, /* MPICH's: each task passes on to the farthest first */
};

/* Sends along the chain of neighbours in direction step, 1 or -1. */
static void run_chain(struct comm *c, const struct comm_msg *m, int root, int step)
{
	int next = (c->rank + step + c->size) % c->size;
	int before = (c->rank - step + c->size) % c->size;

	if (c->rank != root)
		c->ops->recv(c, m, before, TAG_BCAST);
	if (next != root)
		c->ops->send(c, m, next, TAG_BCAST);
}

/*
 * Task v, counted from the root, receives from (v without its lowest bit) and serves the bits
 * below.
 */
static void run_binomial(struct comm *c, const struct comm_msg *m, int root)
{
	int v = (c->rank - root + c->size) % c->size, bit = 1;

	while (bit < c->size && !(v & bit))
		bit <<= 1;
	if (v)
		c->ops->recv(c, m, (v - bit + root) % c->size, TAG_BCAST);
	while ((bit >>= 1)) {
		if (v + bit < c->size)
			c->ops->send(c, m, (v + bit + root) % c->size, TAG_BCAST);
	}
}

static void run_bcast(const struct rooted_case *rc, int root)
{
	struct comm *c = rc->comm;
	struct comm_msg m = {c->rank == root ? rc->out : rc->in, rc->bytes, COMM_CONTIGUOUS};

	switch (rc->op->which) {
	case BCAST_LIBRARY:
		c->ops->coll(c, COMM_BCAST, m.buf, m.buf, m.bytes, root);
		break;
	case BCAST_LINEAR:
		run_chain(c, &m, root, 1);
		break;
	case BCAST_BACKWARD:
		run_chain(c, &m, root, -1);
		break;
	case BCAST_BINOMIAL:
		run_binomial(c, &m, root);
		break;
	}
}

const struct rooted_op rooted_bcasts[] = {
	{"bcast", "library", false, run_bcast, BCAST_LIBRARY},
	{"bcast", "linear", false, run_bcast, BCAST_LINEAR},
	{"bcast", "backward", false, run_bcast, BCAST_BACKWARD},
	{"bcast", "binomial", false, run_bcast, BCAST_BINOMIAL},
	{0},
};

/* ---- the sweep ---- */

static size_t tasks_cnt(const struct bench_run *run)
{
	size_t cnt = 0;
	int n = 0;

	while ((n = tasks_next(run->opt->tasks, n, run->comm->size)))
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
	/* Reductions need multiples of a double. */
	uint64_t min = run->opt->bytes_min, unit = sizeof(double);

	sweep_init(sizes, min < unit ? unit : min, run->opt->bytes_max, run->opt->step, unit, unit);
}

struct sweep_state {
	struct bench_run *run;
	const struct rooted_method *method;
	struct sweep sizes;
	size_t done, all;
};

/* Validates the received data once for each case, outside of the timed part. */
static void check_data(const struct rooted_case *rc)
{
	bench_buffer_fill(rc->out, rc->bytes, COMM_CONTIGUOUS, SEED);
	bench_buffer_fill(rc->in, rc->bytes, COMM_CONTIGUOUS, SEED + 1);
	rc->op->run(rc, 0);
	if (rc->comm->rank)
		bench_buffer_check(rc->in, rc->bytes, COMM_CONTIGUOUS, SEED);
}

static void run_case(struct sweep_state *st, const struct rooted_case *rc)
{
	struct comm *c = rc->comm;
	char size[HUMAN_BYTES], mark[64];

	/* A mark has 32 characters, so the least important part comes last. */
	snprintf(mark, sizeof(mark), "%s, %d tasks, %s, %s", rc->op->op, c->size,
		 human_bytes(size, sizeof(size), rc->bytes), rc->op->algorithm);
	c->ops->mark_begin(c, 1, mark);
	if (st->run->opt->validate && !rc->op->blocks)
		check_data(rc);
	st->method->measure(st->run, rc);
	c->ops->mark_end(c, 1);
}

/* Number of blocks in a buffer. All operations of a sweep are of the same sort. */
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
	/*
	 * Zeros can be summed any number of times. This also touches the pages before the first
	 * report.
	 */
	memset(rc.in, 0, room);
	memset(rc.out, 0, room);
	for (rc.op = ops; rc.op->op; rc.op++) {
		run_case(st, &rc);
		bench_progress(st->run, ++st->done, st->all);
	}
	free(rc.in);
	free(rc.out);
}

/* Runs all sizes on the tasks of a case. The other ranks sleep, so that they take no cores. */
static void run_tasks(struct sweep_state *st, struct comm *c, const struct rooted_op *ops)
{
	char size[HUMAN_BYTES];
	size_t bytes;

	for (size_t i = 0; i < st->sizes.cnt; i++) {
		bytes = (size_t)st->sizes.value[i];
		if (bytes * block_cnt(c, ops) <= BUFFER_BYTES_MAX) {
			run_size(st, c, ops, bytes);
			continue;
		}
		if (c->rank == 0)
			log_warn("%s from each of %d tasks are left out: buffers of more than %d "
				 "MiB",
				 human_bytes(size, sizeof(size), bytes), c->size,
				 BUFFER_BYTES_MAX >> 20);
		st->done += op_cnt(ops);
	}
}

/* Prints an error if there are too few ranks for the numbers of tasks that were asked for. */
static int check_tasks(const struct bench_run *run)
{
	const char *list = run->opt->tasks;
	int all = run->comm->size;
	bool none = list && !tasks_cnt(run);

	if (none && !run->comm->rank)
		log_error("--tasks %s: there %s only %d rank%s", list, all == 1 ? "is" : "are", all,
			  plural_s(all));
	else if (list && !run->comm->rank && tasks_most(list) > all)
		log_warn("--tasks %s: numbers above %d, that of the ranks, are left out", list,
			 all);
	return none ? -EINVAL : 0;
}

int rooted_run(struct bench_run *run)
{
	const struct rooted_method *method = run->bench->method;
	struct sweep_state st = {.run = run, .method = method};
	struct comm *all = run->comm, *c;
	int n = 0, err = check_tasks(run);

	if (err)
		return err;
	sizes_init(&st.sizes, run);
	st.all = tasks_cnt(run) * st.sizes.cnt * op_cnt(method->ops);
	while ((n = tasks_next(run->opt->tasks, n, all->size))) {
		c = comm_few_begin(all, n);
		if (!c)
			continue;
		run_tasks(&st, c, method->ops);
		comm_few_end(all, c);
	}
	sweep_release(&st.sizes);
	return 0;
}

static uint64_t warmup_of(const struct bench_options *opt)
{
	return opt->settle && opt->warmup < SETTLE_OPERATIONS ? SETTLE_OPERATIONS : opt->warmup;
}

uint64_t rooted_estimate_ns(const struct bench_run *run)
{
	const struct rooted_method *method = run->bench->method;
	double points, report_ns, ns = 0;
	struct sweep sizes;
	int n = 0;

	sizes_init(&sizes, run);
	points = (double)sizes.cnt * (double)op_cnt(method->ops) *
		 (method->cases ? method->cases : 1);
	while ((n = tasks_next(run->opt->tasks, n, run->comm->size))) {
		/* A started report and the warm-up always finish, so they exceed the time limit. */
		report_ns = (double)(run->opt->repeat + warmup_of(run->opt)) * n *
			    estimate_wait_ns(run, n);
		ns += points * ((double)run->opt->point_ns + report_ns);
	}
	sweep_release(&sizes);
	return (uint64_t)ns;
}

/* ---- the stop rule ---- */

/* The tests of one case, on task 0. */
struct tests {
	const struct bench_options *opt;
	struct samples all; /* reports of all tests */
	size_t begin;	    /* first report of the current test */
	size_t best, best_cnt;
	double best_spread;
	bool best_steady;
	int cnt;
};

static size_t reports_least(const struct tests *t)
{
	return (size_t)u64_min(REPORTS_MIN, t->opt->samples);
}

/* The reports of the current test; borrowed. */
static struct samples test_reports(const struct tests *t)
{
	return (struct samples){.value = t->all.value + t->begin, .cnt = t->all.cnt - t->begin};
}

/* Ends a test. A test that was cut short is worse than any complete one. */
static void test_end(struct tests *t)
{
	struct samples s = test_reports(t);
	bool whole = s.cnt >= reports_least(t);
	struct summary sum;
	double spread;

	stats_summarize(&s, &sum);
	spread = whole && sum.mean != 0 ? sum.sd / fabs(sum.mean) : INFINITY;
	if (!t->cnt || spread < t->best_spread) {
		t->best = t->begin;
		t->best_cnt = s.cnt;
		t->best_spread = spread;
		t->best_steady = whole && stats_steady(&s, STEADY_PCT);
	}
	t->begin = t->all.cnt;
	t->cnt++;
}

/* Called after each report; ends tests and begins new ones. */
static bool tests_want_more(struct tests *t, bool late)
{
	struct samples s = test_reports(t);

	if (!late && s.cnt < reports_least(t))
		return true;
	if (!late && !stats_steady(&s, STEADY_PCT) &&
	    s.cnt < u64_min(REPORTS_MAX, t->opt->samples_max))
		return true;
	test_end(t);
	return !late && !t->best_steady && t->cnt < TESTS_MAX;
}

static void warm_up(struct bench_run *run, const struct rooted_case *rc,
		    double (*report)(const struct rooted_case *rc, void *ctx), void *ctx)
{
	struct rooted_case brief = *rc;

	brief.repeat = warmup_of(run->opt);
	comm_sync(rc->comm, 0);
	report(&brief, ctx);
}

static struct rooted_outcome tests_outcome(const struct tests *t, struct samples *out)
{
	for (size_t i = 0; i < t->best_cnt; i++)
		samples_add(out, t->all.value[t->best + i]);
	return (struct rooted_outcome){
		.steady = t->best_steady,
		.test_cnt = t->cnt,
		.first = t->best + (warmup_of(t->opt) > 0),
	};
}

struct rooted_outcome rooted_reports(struct bench_run *run, const struct rooted_case *rc,
				     double (*report)(const struct rooted_case *rc, void *ctx),
				     void *ctx, uint64_t limit_ns, struct samples *out)
{
	struct comm *c = rc->comm;
	struct tests tests = {.opt = run->opt};
	struct rooted_outcome outcome;
	bool more = true;
	uint64_t begin;
	double ns;

	if (warmup_of(run->opt))
		warm_up(run, rc, report, ctx);
	begin = c->ops->now_ns(c);
	while (comm_sync(c, more)) {
		ns = report(rc, ctx);
		if (c->rank)
			continue;
		samples_add(&tests.all, ns);
		more = tests_want_more(&tests, limit_ns && c->ops->now_ns(c) - begin > limit_ns);
	}
	outcome = tests_outcome(&tests, out);
	samples_release(&tests.all);
	return outcome;
}

/* ---- for methods ---- */

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

void rooted_outcome_add(struct result_point *p, const struct rooted_outcome *o)
{
	result_value(p, "steady", o->steady);
	result_value(p, "tests", o->test_cnt);
}

void rooted_measure(struct bench_run *run, const struct rooted_case *rc, const char *method,
		    double (*report)(const struct rooted_case *rc, void *ctx), void *ctx)
{
	struct result_point *p;
	struct samples s = {0};
	struct rooted_outcome outcome = rooted_reports(run, rc, report, ctx, rc->time_ns, &s);

	if (rc->comm->rank == 0) {
		p = rooted_point_add(run, rc, method);
		result_time(p, "latency", &s);
		rooted_outcome_add(p, &outcome);
	}
	samples_release(&s);
}

void rooted_ack_send(struct comm *c, int task)
{
	comm_signal(c, task, TAG_ACK);
}

void rooted_ack_recv(struct comm *c, int task)
{
	comm_await(c, task, TAG_ACK);
}
