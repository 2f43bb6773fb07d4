/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the eager limit, to the byte. Rank 1 receives late. A blocking send that returns earlier
 * was eager, and one that waits for the receive was a rendezvous (the protocols are in MPI
 * Advisor, 4.1 and figure 2; the use of the sender's time follows from them). Sizes are doubled
 * until one is not eager, then bisected. The limit follows from the library's behaviour, on
 * whatever transport it uses, instead of from its settings.
 *
 * The receiver is late in two ways: in MPI, with calls of Test for another message, and computing.
 * Some libraries take an eager message from the sender only when the receiver is in MPI, which the
 * second limit then shows. A point has the parameters receiver ("in_mpi" or "computing"), bytes
 * and delay_ns, the time send, and the value eager (1 or 0).
 */
#include "core/bench.h"

#include "core/param_text.h"
#include "overlap/map.h"
#include "core/curve.h"

#include <stdio.h>
#include <stdlib.h>

#define SAMPLES 7 /* of a size; enough for a decision */
/*
 * The receiver is late by at least DELAY_NS, and by DELAY_TIMES the time of the message. DELAY_NS
 * is long enough not to take a tick of the scheduler for a rendezvous.
 */
#define DELAY_NS 500000
#define DELAY_TIMES 4
#define DELAY_SHARE 0.5 /* of the delay; a longer send was no eager one */

static const uint32_t eager_seed = 13;

#define TEST_EVERY_NS 1000

struct eager {
	struct bench_run *run;
	struct comm_msg msg;
	bool in_mpi;
	uint64_t delay_ns;
};

static const struct compute late = {.kind = COMPUTE_DEADLINE, .cores = COMPUTE_ONE};

/* Calls Test for the delay. The message that it tests for is one that the sender sends last. */
static void receive_in_mpi(struct comm *c, const struct eager *e)
{
	const struct comm_msg none = {.buf = NULL, .bytes = 0, .layout = COMM_CONTIGUOUS};
	uint64_t end_ns = c->ops->now_ns(c) + e->delay_ns;
	struct comm_request word = {0};
	bool heard = false;

	c->ops->irecv(c, &none, 0, MAP_TAG_ACK, &word);
	while (c->ops->now_ns(c) < end_ns) {
		c->ops->compute(c, &late, TEST_EVERY_NS);
		heard = heard || c->ops->test(c, &word);
	}
	c->ops->recv(c, &e->msg, 0, MAP_TAG_DATA);
	if (!heard)
		c->ops->wait(c, &word);
}

static void receive_late(struct bench_run *run, const struct eager *e)
{
	struct comm *c = run->comm;

	if (e->in_mpi) {
		receive_in_mpi(c, e);
	} else {
		c->ops->compute(c, &late, e->delay_ns);
		c->ops->recv(c, &e->msg, 0, MAP_TAG_DATA);
	}
	if (run->opt->validate)
		bench_msg_check(&e->msg, eager_seed);
}

static double eager_sample(struct bench_run *run, void *ctx)
{
	const struct eager *e = ctx;
	struct comm *c = run->comm;
	uint64_t start_ns, end_ns;

	if (c->rank == 1) {
		receive_late(run, e);
		return 0;
	}
	start_ns = c->ops->now_ns(c);
	c->ops->send(c, &e->msg, 1, MAP_TAG_DATA);
	end_ns = c->ops->now_ns(c);
	if (e->in_mpi)
		comm_signal(c, 1, MAP_TAG_ACK);
	return (double)(end_ns - start_ns);
}

/* Chooses how late the receiver is; all ranks get the result. */
static uint64_t choose_delay(struct bench_run *run, size_t bytes)
{
	struct samples comm = {0};
	double ns;

	measure_pingpong(run, bytes, COMM_CONTIGUOUS, &comm);
	ns = DELAY_TIMES * stats_quantile(&comm, 0.5);
	samples_release(&comm);
	return comm_tell(run->comm, ns > DELAY_NS ? (uint64_t)ns : DELAY_NS);
}

static bool judge(const struct eager *e, const struct samples *send)
{
	bool eager = stats_quantile(send, 0.5) < DELAY_SHARE * (double)e->delay_ns;
	struct result_point *point = result_point_add(e->run->result);

	result_param_text(point, "receiver", e->in_mpi ? "in_mpi" : "computing");
	result_param(point, "bytes", e->msg.bytes);
	result_param(point, "delay_ns", e->delay_ns);
	result_time(point, "send", send);
	result_value(point, "eager", eager);
	return eager;
}

/* All ranks get the answer. */
static bool size_is_eager(struct bench_run *run, size_t bytes, bool in_mpi)
{
	struct bench_options opt = *run->opt;
	struct bench_run few = *run;
	struct eager e = {
		.run = run, .msg = {.bytes = bytes, .layout = COMM_CONTIGUOUS}, .in_mpi = in_mpi};
	const struct measure_how how = {.sample = eager_sample, .ctx = &e, .warm = true};
	char size[HUMAN_BYTES], name[HUMAN_BYTES + 16];
	struct samples send = {0};
	bool eager;

	snprintf(name, sizeof(name), "%s, %s", param_bytes(size, sizeof(size), bytes),
		 in_mpi ? "in MPI" : "computing");
	run->comm->ops->mark_begin(run->comm, 1, name);
	opt.samples = SAMPLES;
	opt.ci_pct = 0;
	few.opt = &opt;
	e.delay_ns = choose_delay(&few, bytes);
	e.msg.buf = bench_buffer_new(bytes, COMM_CONTIGUOUS);
	bench_buffer_fill(e.msg.buf, bytes, COMM_CONTIGUOUS,
			  run->comm->rank ? ~eager_seed : eager_seed);
	measure(&few, &how, &send);
	eager = run->comm->rank == 0 && judge(&e, &send);
	samples_release(&send);
	free(e.msg.buf);
	run->comm->ops->mark_end(run->comm, 1);
	return comm_tell(run->comm, eager);
}

/*
 * Returns the first size, by doubling, that is not eager, or 0 if all up to the largest are. *last
 * is the size before it, or 0.
 */
static size_t find_above(struct bench_run *run, bool in_mpi, size_t *last)
{
	size_t bytes = run->opt->bytes_min ? run->opt->bytes_min : 1, most = run->opt->bytes_max;

	for (*last = 0; bytes <= most;
	     bytes = bytes < most && 2 * bytes > most ? most : 2 * bytes) {
		if (!size_is_eager(run, bytes, in_mpi))
			return bytes;
		*last = bytes;
	}
	return 0;
}

static void find_limit(struct bench_run *run, bool in_mpi)
{
	size_t eager, above = find_above(run, in_mpi, &eager), middle;

	while (eager && above > eager + 1) {
		middle = eager + (above - eager) / 2;
		if (size_is_eager(run, middle, in_mpi))
			eager = middle;
		else
			above = middle;
	}
}

static int eager_limit_run(struct bench_run *run)
{
	find_limit(run, true);
	find_limit(run, false);
	return 0;
}

/*
 * Two searches, each of twice as many sizes as there are doublings, and two measurements of each
 * size.
 */
static uint64_t eager_limit_estimate_ns(const struct bench_run *run)
{
	double ns = 0;

	for (size_t bytes = 1; bytes <= run->opt->bytes_max; bytes *= 2)
		ns += 8.0 * (SAMPLES + (double)run->opt->warmup) *
		      (DELAY_NS + DELAY_TIMES * (double)bytes);
	return (uint64_t)ns;
}

const struct bench bench_eager_limit = {
	.name = "eager_limit",
	.group = "reference",
	.brief = "the largest message for which a blocking send returns before its receive",
	.source = "after MPI Advisor, 4.1: point-to-point protocol threshold",
	.kind = RESULT_PROTOCOL,
	.ranks_min = 2,
	.ranks_max = 2,
	.run = eager_limit_run,
	.estimate_ns = eager_limit_estimate_ns,
};

/* ---- send_time ---- */

/*
 * The sender's processor time: how long a blocking Send occupies rank 0. Small messages are copied
 * and the call returns early. Large ones occupy the sender until the receiver has them.
 */

static const uint32_t send_time_seed = 7;

struct send_time {
	struct comm_msg msg;
	double clock_ns;
};

static double send_time_sample(struct bench_run *run, void *ctx)
{
	const struct send_time *s = ctx;
	const struct comm_msg *msg = &s->msg;
	struct comm *c = run->comm;
	uint64_t start;

	if (c->rank == 1) {
		c->ops->recv(c, msg, 0, MAP_TAG_DATA);
		if (run->opt->validate)
			bench_msg_check(msg, send_time_seed);
		return 0;
	}
	start = c->ops->now_ns(c);
	c->ops->send(c, msg, 1, MAP_TAG_DATA);
	return (double)(c->ops->now_ns(c) - start) - s->clock_ns;
}

static void send_time_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	struct send_time s = {.msg = {.buf = bench_buffer_new(bytes, COMM_CONTIGUOUS),
				      .bytes = bytes},
			      .clock_ns = measure_clock_ns(run->comm)};
	const struct measure_how how = {.sample = send_time_sample, .ctx = &s};

	bench_buffer_fill(s.msg.buf, bytes, s.msg.layout,
			  run->comm->rank == 0 ? send_time_seed : ~send_time_seed);
	measure(run, &how, out);
	free(s.msg.buf);
}

static const struct curve curve = {.measure = send_time_measure};

const struct bench bench_send_time = {
	.name = "send_time",
	.group = "reference",
	.brief = "how long a blocking send keeps the sender",
	.source = "Denis & Trahay 2016, III.D: base benchmarks",
	CURVE_PAIR(curve),
};
