/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The sweep over message size × computation time. References are taken right before the points that use them, since
 * a shared machine drifts; T_comp does not depend on the size and is taken once per computation time.
 */
#include "overlap/map.h"

#include "base/log.h"
#include "core/estimate.h"
#include "core/nominal.h"
#include "core/overlap_ratio.h"
#include "core/sweep.h"

#include <stdio.h>
#include <stdlib.h>

/* Of all messages of a rank in one direction: a machine's memory is shared by its ranks. */
#define MAP_BYTES_MAX (256UL << 20)

static const uint64_t first_compute_ns = 1000;

struct map_axes {
	struct sweep bytes, compute;
	struct samples *comp; /* T_comp, one of each compute.value; owned */
};

static int pattern_messages(const struct map_pattern *pattern, const struct bench_run *run)
{
	int cnt = pattern->messages ? pattern->messages(run) : 1;

	return cnt < 1 ? 1 : cnt;
}

static void axes_init(struct map_axes *a, const struct bench_run *run,
		      const struct map_pattern *pattern)
{
	const struct bench_options *opt = run->opt;
	uint64_t unit = pattern->unit ? pattern->unit : 1;
	uint64_t most = MAP_BYTES_MAX / (uint64_t)pattern_messages(pattern, run);
	uint64_t max = opt->bytes_max < most ? opt->bytes_max : most;
	size_t i;

	if (pattern->no_bytes)
		sweep_init(&a->bytes, 0, 0, opt->step, 1, 1);
	else
		sweep_init(&a->bytes, opt->bytes_min < unit ? unit : opt->bytes_min,
			   max < unit ? unit : max, opt->step, unit, unit);
	sweep_init(&a->compute, opt->compute_min_ns, opt->compute_max_ns, opt->step,
		   first_compute_ns, 1);
	a->comp = xcalloc(a->compute.cnt, sizeof(*a->comp));
	for (i = 0; i < a->compute.cnt; i++)
		samples_init(&a->comp[i]);
}

static void axes_release(struct map_axes *a)
{
	size_t i;

	for (i = 0; i < a->compute.cnt; i++)
		samples_release(&a->comp[i]);
	free(a->comp);
	sweep_release(&a->compute);
	sweep_release(&a->bytes);
}

static double samples_median(const struct samples *s)
{
	struct summary sum;

	stats_summarize(s, &sum);
	return sum.median;
}

/* measure() warms up with the same body: only its last `cnt` calls are in the result. */
static void samples_keep_last(struct samples *s, size_t cnt)
{
	struct samples last;
	size_t i;

	samples_init(&last);
	for (i = s->cnt > cnt ? s->cnt - cnt : 0; i < s->cnt; i++)
		samples_add(&last, s->value[i]);
	samples_release(s);
	*s = last;
}

/* ---- one sample ---- */

uint32_t map_seed(const struct map *m, int rank, int idx)
{
	return (uint32_t)m->bytes * 31 + (uint32_t)rank * 1009 + (uint32_t)idx;
}

void map_check_message(struct map *m, const struct comm_msg *msg, int rank, int idx)
{
	bench_buffer_check(msg->buf, msg->bytes, msg->layout, map_seed(m, rank, idx));
	/* The next one brings the same data: without this, one that never arrived would pass. */
	bench_buffer_fill(msg->buf, msg->bytes, msg->layout, ~map_seed(m, rank, idx));
}

static void map_check(struct map *m)
{
	int i, rank = m->comm->rank;

	if (m->pattern->check)
		m->pattern->check(m);
	if (rank > 1 || !(m->pattern->receives & 1U << rank))
		return;
	for (i = 0; i < m->message_cnt; i++)
		map_check_message(m, &m->in[i], 1 - rank, i);
}

static double map_sample(struct bench_run *run, void *ctx)
{
	struct map *m = ctx;
	double ns;

	m->in_calls_ns = 0;
	m->wait_ns = 0;
	m->test_ns = 0;
	ns = m->pattern->sequence(m);
	if (run->opt->validate)
		map_check(m);
	if (run->comm->rank != 0)
		return 0;
	samples_add(&m->in_calls, m->in_calls_ns);
	samples_add(&m->wait, m->wait_ns);
	samples_add(&m->test, m->test_ns);
	if (m->pattern->ack_latency)
		ns = ns > m->latency_ns ? ns - m->latency_ns : 0;
	return ns;
}

static void map_measure(struct map *m, struct samples *out)
{
	samples_clear(&m->in_calls);
	samples_clear(&m->wait);
	samples_clear(&m->test);
	measure(m->run, map_sample, m, out);
	samples_keep_last(&m->in_calls, out->cnt);
	samples_keep_last(&m->wait, out->cnt);
	samples_keep_last(&m->test, out->cnt);
}

void map_reference_sequence(struct map *m, struct samples *out)
{
	m->compute_ns = 0;
	map_measure(m, out);
}

static double computation_sample(struct bench_run *run, void *ctx)
{
	struct map *m = ctx;
	uint64_t start = map_now(m);

	if (run->comm->rank != 0 && !m->pattern->all_compute)
		return 0;
	if (m->pattern->computation)
		return m->pattern->computation(m);
	map_compute(m);
	return (double)(map_now(m) - start);
}

/* ---- points ---- */

static void measure_computation(struct map *m, struct map_axes *a)
{
	size_t i;

	m->comm->ops->mark_begin(m->comm, 1, "computation");
	for (i = 0; i < a->compute.cnt; i++) {
		m->compute_ns = a->compute.value[i];
		measure(m->run, computation_sample, m, &a->comp[i]);
	}
	m->comm->ops->mark_end(m->comm, 1);
}

/*
 * The same for all sizes, and whatever disturbs makes it longer: the least median so far. A wrong one of
 * milliseconds, on a busy machine, would take whole columns of the map down to 0.
 */
static void measure_latency(struct map *m)
{
	double ns = measure_latency_ns(m->run, 1);

	if (!m->latency_known || ns < m->latency_ns)
		m->latency_ns = ns;
	m->latency_known = true;
}

static void measure_references(struct map *m)
{
	struct comm *c = m->comm;

	c->ops->mark_begin(c, 1, "reference");
	if (m->pattern->ack_latency)
		measure_latency(m);
	samples_clear(&m->comm_ns);
	samples_clear(&m->blocking);
	if (m->pattern->reference)
		m->pattern->reference(m, &m->comm_ns);
	else
		measure_pingpong(m->run, m->bytes, m->pattern->layout, &m->comm_ns);
	c->ops->mark_end(c, 1);
}

static void point_values(const struct map *m, const struct overlap_times *t,
			 struct result_point *point)
{
	struct overlap_times by_blocking = *t;
	struct overlap_ratios r, blocking;

	overlap_ratios(t, &r);
	if (m->blocking.cnt) {
		by_blocking.comm = samples_median(&m->blocking);
		overlap_ratios(&by_blocking, &blocking);
		r.mpiperf = blocking.mpiperf;
	}
	result_value(point, "ratio", r.ratio);
	result_value(point, "osu_pct", r.osu_pct);
	result_value(point, "imb_pct", r.imb_pct);
	result_value(point, "imb_io_pct", r.imb_io_pct);
	result_value(point, "mpiperf", r.mpiperf);
	result_value(point, "sandia", r.sandia);
}

static void point_write(struct map *m, const struct samples *comp, const struct samples *measured)
{
	struct overlap_times t = {.comm = samples_median(&m->comm_ns),
				  .comp = samples_median(comp),
				  .measured = samples_median(measured),
				  .in_calls = samples_median(&m->in_calls)};
	struct result_point *point = result_point_add(m->run->result);

	result_param(point, "bytes", m->bytes);
	result_param(point, "compute_ns", m->compute_ns);
	if (m->pattern->params)
		m->pattern->params(m, point);
	result_time(point, "comm", &m->comm_ns);
	result_time(point, "comp", comp);
	result_time(point, "measured", measured);
	result_time(point, "in_calls", &m->in_calls);
	if (m->pattern->sends_only)
		result_time(point, "send_wait", &m->wait);
	if (samples_median(&m->test) > 0)
		result_time(point, "test", &m->test);
	if (m->blocking.cnt)
		result_time(point, "blocking", &m->blocking);
	point_values(m, &t, point);
}

static void map_point(struct map *m, const struct samples *comp)
{
	char size[HUMAN_BYTES], time[HUMAN_BYTES], name[2 * HUMAN_BYTES + 4];
	struct samples measured;

	snprintf(name, sizeof(name), "%s, %s", human_bytes(size, sizeof(size), m->bytes),
		 nominal_ns(time, sizeof(time), m->compute_ns));
	m->comm->ops->mark_begin(m->comm, 1, name);
	samples_init(&measured);
	map_measure(m, &measured);
	if (m->comm->rank == 0)
		point_write(m, comp, &measured);
	samples_release(&measured);
	m->comm->ops->mark_end(m->comm, 1);
}

/* ---- the sweep ---- */

static void size_begin(struct map *m)
{
	enum comm_layout layout = m->pattern->layout;
	int i;

	for (i = 0; i < m->message_cnt && !m->pattern->own_buffers; i++) {
		m->out[i] = (struct comm_msg){bench_buffer_new(m->bytes, layout), m->bytes, layout};
		m->in[i] = (struct comm_msg){bench_buffer_new(m->bytes, layout), m->bytes, layout};
		bench_buffer_fill(m->out[i].buf, m->bytes, layout, map_seed(m, m->comm->rank, i));
		/* Touches the pages, too: their first faults are no part of any time. */
		bench_buffer_fill(m->in[i].buf, m->bytes, layout, ~map_seed(m, m->comm->rank, i));
	}
	if (m->pattern->size_begin)
		m->pattern->size_begin(m);
}

static void size_end(struct map *m)
{
	int i;

	if (m->pattern->size_end)
		m->pattern->size_end(m);
	for (i = 0; i < m->message_cnt && !m->pattern->own_buffers; i++) {
		free(m->out[i].buf);
		free(m->in[i].buf);
	}
}

static void map_size(struct map *m, struct map_axes *a, size_t idx)
{
	struct bench_run *run = m->run;
	size_t i;

	m->bytes = a->bytes.value[idx];
	size_begin(m);
	measure_references(m);
	for (i = 0; i < a->compute.cnt; i++) {
		m->compute_ns = a->compute.value[i];
		map_point(m, &a->comp[i]);
		if (m->comm->rank == 0 && run->progress)
			run->progress(run->progress_ctx, idx * a->compute.cnt + i + 1,
				      a->bytes.cnt * a->compute.cnt);
	}
	size_end(m);
}

static void map_init(struct map *m, struct bench_run *run, const struct map_pattern *pattern)
{
	*m = (struct map){.run = run, .comm = run->comm, .pattern = pattern};
	m->message_cnt = pattern_messages(pattern, run);
	m->out = xcalloc((size_t)m->message_cnt, sizeof(*m->out));
	m->in = xcalloc((size_t)m->message_cnt, sizeof(*m->in));
	m->request = xcalloc(2 * (size_t)m->message_cnt, sizeof(*m->request));
	samples_init(&m->in_calls);
	samples_init(&m->wait);
	samples_init(&m->test);
	samples_init(&m->comm_ns);
	samples_init(&m->blocking);
}

static void map_release(struct map *m)
{
	samples_release(&m->blocking);
	samples_release(&m->comm_ns);
	samples_release(&m->test);
	samples_release(&m->wait);
	samples_release(&m->in_calls);
	free(m->request);
	free(m->in);
	free(m->out);
}

int map_run(struct bench_run *run, const struct map_pattern *pattern)
{
	char limit[HUMAN_BYTES];
	struct map_axes a;
	struct map m;
	size_t i;

	axes_init(&a, run, pattern);
	map_init(&m, run, pattern);
	if (run->comm->rank == 0 && !pattern->no_bytes &&
	    run->opt->bytes_max > MAP_BYTES_MAX / (uint64_t)m.message_cnt)
		log_warn("sizes end at %s: %d messages at once would need more than %lu MiB",
			 human_bytes(limit, sizeof(limit), a.bytes.value[a.bytes.cnt - 1]),
			 m.message_cnt, MAP_BYTES_MAX >> 20);
	measure_computation(&m, &a);
	for (i = 0; i < a.bytes.cnt; i++)
		map_size(&m, &a, i);
	map_release(&m);
	axes_release(&a);
	return 0;
}

/* ---- before the run ---- */

uint64_t map_estimate_ns(const struct bench_run *run, const struct map_pattern *pattern, int phases)
{
	int messages = pattern_messages(pattern, run);
	double wait_ns = ESTIMATE_LATENCY_NS + estimate_wait_ns(run, run->comm->size);
	double ns = 0, comm_ns;
	struct map_axes a;
	size_t i, k;

	axes_init(&a, run, pattern);
	for (k = 0; k < a.compute.cnt; k++)
		ns += estimate_point_ns(run->opt, (double)a.compute.value[k] + wait_ns);
	for (i = 0; i < a.bytes.cnt; i++) {
		comm_ns = wait_ns * run->comm->size +
			  (double)a.bytes.value[i] * messages * phases / ESTIMATE_BYTES_PER_NS;
		ns += 2 * estimate_point_ns(run->opt, 2 * comm_ns);
		for (k = 0; k < a.compute.cnt; k++)
			ns += estimate_point_ns(run->opt,
						comm_ns + phases * (double)a.compute.value[k]);
	}
	axes_release(&a);
	return (uint64_t)ns;
}
