/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Takes the samples of a point and of its references.
 *
 * A point is sampled in pairs: the sequence and its computation alone, one immediately after the
 * other. A computation is often a thousand times as long as a message, and its pace varies by more
 * than that. Only within a pair is the difference the message. The order within a pair is random,
 * so that neither a steady drift nor the period of an interrupt favours one of them.
 */
#include "overlap/map.h"

#include <math.h>

/*
 * measure() warms up with the same function, so only the last `cnt` samples belong to the result.
 */
static void samples_keep_last(struct samples *s, size_t cnt)
{
	samples_cut(s, s->cnt > cnt ? s->cnt - cnt : 0, cnt);
}

void map_cell_release(struct map_cell *c)
{
	samples_release(&c->measured);
	samples_release(&c->alone);
	samples_release(&c->slowest);
	samples_release(&c->beside);
	samples_release(&c->in_calls);
	samples_release(&c->wait);
	samples_release(&c->test);
}

/* ---- one sample ---- */

uint32_t map_seed(const struct map *m, int rank, int idx)
{
	return (uint32_t)m->bytes * 31 + (uint32_t)rank * 1009 + (uint32_t)idx;
}

void map_check_message(struct map *m, const struct comm_msg *msg, int rank, int idx)
{
	bench_msg_check(msg, map_seed(m, rank, idx));
}

static void map_check(struct map *m)
{
	int rank = m->comm->rank;

	if (m->pattern->check)
		m->pattern->check(m);
	if (rank > 1 || !(m->pattern->receives & 1U << rank))
		return;
	for (int i = 0; i < m->message_cnt; i++)
		map_check_message(m, &m->in[i], 1 - rank, i);
}

static double less_latency(const struct map *m, double ns)
{
	return fmax(0, fmax(ns - m->latency_ns, fmin(ns, m->own_ns)));
}

/* True if the next sample measures the time spent in calls. */
static bool is_detail(const struct map *m)
{
	return m->sample_cnt % MAP_DETAIL_EVERY == 0;
}

static void map_prepare(struct bench_run *run, void *ctx)
{
	struct map *m = ctx;

	if (!m->alone_first || is_detail(m))
		m->pattern->prepare(m);
}

static double map_timed(struct map *m, double (*sequence)(struct map *m))
{
	double ns;

	m->timing = false;
	m->own_ns = 0;
	m->in_calls_ns = 0;
	m->wait_ns = 0;
	m->test_ns = 0;
	ns = sequence(m);
	if (m->run->opt->validate)
		map_check(m);
	return m->pattern->ack_latency ? less_latency(m, ns) : fmax(0, ns);
}

static double map_sample(struct bench_run *run, void *ctx)
{
	struct map *m = ctx;
	double ns;

	m->detail = run->comm->rank == 0 && is_detail(m);
	m->sample_cnt++;
	ns = map_timed(m, m->sequence);
	if (m->detail) {
		samples_add(&m->point.in_calls, fmax(0, m->in_calls_ns));
		samples_add(&m->point.wait, fmax(0, m->wait_ns));
		samples_add(&m->point.test, fmax(0, m->test_ns));
		m->detail = false;
		return NAN;
	}
	return ns;
}

/* ---- pairs ---- */

static double map_computation(struct map *m)
{
	int phases = m->pattern->phases ? m->pattern->phases : 1;
	double ns;

	m->timing = false;
	m->detail = false;
	if (m->pattern->computation)
		return fmax(0, m->pattern->computation(m));
	/* The other ranks already wait for the next synchronisation. */
	if (m->comm->rank != 0 && !m->pattern->all_compute)
		return 0;
	map_begin(m);
	for (int i = 0; i < phases; i++)
		map_compute(m);
	ns = fmax(0, map_end(m) / phases);
	if (!m->pattern->all_compute)
		return ns;
	m->slowest_ns = map_longest(m, ns);
	return m->pattern->longest ? m->slowest_ns : ns;
}

static double (*communication_of(const struct map *m))(struct map *)
{
	return m->pattern->communication ? m->pattern->communication : m->pattern->sequence;
}

/*
 * Synchronises before the next part of a sample. `prepares`: the part needs the pattern's
 * preparation.
 */
static void next_part(struct map *m, bool prepares)
{
	if (prepares && m->pattern->prepare)
		m->pattern->prepare(m);
	comm_sync(m->comm, 1);
}

/* Measures T_comm with caches as a computation leaves them, not as the previous message did. */
static void map_beside(struct map *m)
{
	uint64_t compute_ns = m->compute_ns;
	double (*communication)(struct map * m) = communication_of(m), ns;

	next_part(m, communication == m->pattern->sequence);
	m->compute_ns = 0;
	m->before_ns = compute_ns;
	ns = map_timed(m, communication);
	m->compute_ns = compute_ns;
	m->before_ns = 0;
	samples_add(&m->point.beside, ns);
}

static double map_point_sample(struct bench_run *run, void *ctx)
{
	struct map *m = ctx;
	double alone, measured;

	if (is_detail(m)) {
		measured = map_sample(run, m);
		map_beside(m);
		return measured;
	}
	if (m->alone_first) {
		alone = map_computation(m);
		next_part(m, true);
		measured = map_sample(run, m);
	} else {
		measured = map_sample(run, m);
		next_part(m, false);
		alone = map_computation(m);
	}
	samples_add(&m->point.alone, alone);
	if (m->slowest_ns > 0)
		samples_add(&m->point.slowest, m->slowest_ns);
	m->alone_first = random_step(&m->random) >> 63;
	return measured;
}

static void map_measure(struct map *m, double (*sequence)(struct map *m), bool point,
			struct samples *out)
{
	bool prepares = sequence == m->pattern->sequence && m->pattern->prepare;
	const struct measure_how how = {.sample = point ? map_point_sample : map_sample,
					.prepare = prepares ? map_prepare : NULL,
					.ctx = m,
					.warm = m->warm};
	size_t details;

	m->sequence = sequence;
	m->alone_first = false;
	map_cell_release(&m->point);
	m->sample_cnt = 0;
	measure(m->run, &how, out);
	details = out->cnt / (MAP_DETAIL_EVERY - 1) ?: 1;
	samples_keep_last(&m->point.alone, out->cnt);
	samples_keep_last(&m->point.slowest, out->cnt);
	samples_keep_last(&m->point.beside, details);
	samples_keep_last(&m->point.in_calls, details);
	samples_keep_last(&m->point.wait, details);
	samples_keep_last(&m->point.test, details);
}

void map_reference_by(struct map *m, double (*sequence)(struct map *m), struct samples *out)
{
	m->compute_ns = 0;
	map_measure(m, sequence, false, out);
}

void map_reference(struct map *m, struct samples *out)
{
	map_reference_by(m, communication_of(m), out);
}

void map_measure_point(struct map *m, struct map_cell *out)
{
	map_measure(m, m->pattern->sequence, true, &m->point.measured);
	map_cell_release(out);
	*out = m->point;
	m->point = (struct map_cell){0};
}

/* ---- building blocks of the timed sequences ---- */

/*
 * Each reading of the clock takes about ten ns, a tenth of a small message, unless the rank is
 * waiting at that time anyway. So a sample contains only one reading, which is subtracted. The time
 * in calls is measured in separate samples. Ranks whose times are not used read no clock.
 */

void map_compute_before(struct map *m)
{
	if (m->before_ns)
		m->comm->ops->compute(m->comm, &m->run->opt->compute, m->before_ns);
}

void map_begin(struct map *m)
{
	map_compute_before(m);
	m->timing = true;
	m->readings = 0;
	m->began_ns = m->comm->ops->now_ns(m->comm);
}

static double since_begin(struct map *m)
{
	m->readings++;
	return (double)(m->comm->ops->now_ns(m->comm) - m->began_ns);
}

double map_end(struct map *m)
{
	return m->timing ? since_begin(m) - m->clock_ns : 0;
}

void map_own(struct map *m)
{
	if (m->pattern->ack_latency)
		m->own_ns = map_end(m);
}

double map_now(struct map *m)
{
	double ns;

	if (!m->timing || !m->detail)
		return 0;
	ns = since_begin(m);
	return ns - m->readings * m->clock_ns;
}

void map_compute(struct map *m)
{
	if (m->compute_ns)
		m->comm->ops->compute(m->comm, &m->run->opt->compute, m->compute_ns);
}

void map_in_calls(struct map *m, double post_ns, double wait_ns)
{
	m->in_calls_ns += post_ns + wait_ns;
	m->wait_ns += wait_ns;
}

void map_compute_and_wait(struct map *m, double start_ns)
{
	double posted = map_now(m), computed;

	map_compute(m);
	computed = map_now(m);
	m->comm->ops->wait(m->comm, &m->request[0]);
	map_in_calls(m, posted - start_ns, map_now(m) - computed);
}

void map_overlap_send(struct map *m, int peer)
{
	double start = map_now(m);

	m->comm->ops->isend(m->comm, &m->out[0], peer, MAP_TAG_DATA, &m->request[0]);
	map_compute_and_wait(m, start);
	map_own(m);
}

void map_overlap_recv(struct map *m, int peer)
{
	struct comm *c = m->comm;
	double start = map_now(m), posted, computed;

	c->ops->irecv(c, &m->in[0], peer, MAP_TAG_DATA, &m->request[0]);
	posted = map_now(m);
	map_compute(m);
	map_own(m);
	computed = map_now(m);
	c->ops->wait(c, &m->request[0]);
	map_in_calls(m, posted - start, map_now(m) - computed);
}

double map_longest(struct map *m, double own_ns)
{
	return (double)comm_most(m->comm, own_ns > 0 ? (uint64_t)llround(own_ns) : 0);
}

double map_sequence_send_ack(struct map *m)
{
	if (m->comm->rank == 1) {
		m->comm->ops->recv(m->comm, &m->in[0], 0, MAP_TAG_DATA);
		comm_signal(m->comm, 0, MAP_TAG_ACK);
		return 0;
	}
	map_begin(m);
	map_overlap_send(m, 1);
	comm_await(m->comm, 1, MAP_TAG_ACK);
	return map_end(m);
}
