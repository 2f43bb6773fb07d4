/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The sweep over message size × computation time, in blocks: a block is a size, with T_comm before and behind its points,
 * since a shared machine drifts. Sizes, and points of a size, come in random order, so that what changes with time does not look
 * like a change with size. T_comp does not depend on the size and is taken once per computation time, the latency once
 * for all.
 */
#include "overlap/map.h"

#include "base/log.h"
#include "core/estimate.h"
#include "core/param_text.h"
#include "core/resume.h"
#include "core/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Of all messages of a rank in one direction: a machine's memory is shared by its ranks. */
#define MAP_BYTES_MAX (256UL << 20)

/* The latency is the least median of so many measurements: whatever disturbs makes it longer. */
#define LATENCIES 5

/* Of so many samples one is taken for what is spent in calls, and not for T_measured. */
#define DETAIL_EVERY 4

static const uint64_t first_compute_ns = 1000;

struct map_axes {
	struct sweep bytes, compute;
	struct samples *comp; /* T_comp, one of each compute.value; owned */
	uint64_t random;      /* the same on all ranks */
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

static void map_prepare(struct bench_run *run, void *ctx)
{
	struct map *m = ctx;

	(void)run;
	m->pattern->prepare(m);
}

static double less_latency(const struct map *m, double ns)
{
	return fmax(0, fmax(ns - m->latency_ns, fmin(ns, m->own_ns)));
}

static double map_sample(struct bench_run *run, void *ctx)
{
	struct map *m = ctx;
	double ns;

	m->timing = false;
	m->own_ns = 0;
	m->in_calls_ns = 0;
	m->wait_ns = 0;
	m->test_ns = 0;
	m->detail = run->comm->rank == 0 && m->sample_cnt++ % DETAIL_EVERY == 0;
	ns = m->sequence(m);
	if (run->opt->validate)
		map_check(m);
	if (m->detail) {
		samples_add(&m->in_calls, fmax(0, m->in_calls_ns));
		samples_add(&m->wait, fmax(0, m->wait_ns));
		samples_add(&m->test, fmax(0, m->test_ns));
		return NAN;
	}
	return m->pattern->ack_latency ? less_latency(m, ns) : fmax(0, ns);
}

static void map_measure(struct map *m, double (*sequence)(struct map *m), struct samples *out)
{
	bool prepares = sequence == m->pattern->sequence && m->pattern->prepare;
	const struct measure_how how = {.sample = map_sample,
					.prepare = prepares ? map_prepare : NULL,
					.ctx = m,
					.warm = m->warm};
	size_t details;

	m->sequence = sequence;
	samples_clear(&m->in_calls);
	samples_clear(&m->wait);
	samples_clear(&m->test);
	m->sample_cnt = 0;
	measure(m->run, &how, out);
	details = out->cnt / (DETAIL_EVERY - 1) ?: 1;
	samples_keep_last(&m->in_calls, details);
	samples_keep_last(&m->wait, details);
	samples_keep_last(&m->test, details);
}

void map_reference_by(struct map *m, double (*sequence)(struct map *m), struct samples *out)
{
	m->compute_ns = 0;
	map_measure(m, sequence, out);
}

void map_reference_sequence(struct map *m, struct samples *out)
{
	map_reference_by(m, m->pattern->sequence, out);
}

static double computation_sample(struct bench_run *run, void *ctx)
{
	struct map *m = ctx;

	m->timing = false;
	if (run->comm->rank != 0 && !m->pattern->all_compute)
		return 0;
	m->detail = false;
	if (m->pattern->computation)
		return fmax(0, m->pattern->computation(m));
	map_begin(m);
	map_compute(m);
	return fmax(0, map_end(m));
}

/* ---- points ---- */

static void measure_computation(struct map *m, struct map_axes *a)
{
	const struct measure_how how = {.sample = computation_sample, .ctx = m, .warm = true};
	size_t i;

	m->comm->ops->mark_begin(m->comm, 1, "computation");
	for (i = 0; i < a->compute.cnt; i++) {
		m->compute_ns = a->compute.value[i];
		measure(m->run, &how, &a->comp[i]);
	}
	m->comm->ops->mark_end(m->comm, 1);
}

/* A wrong one of milliseconds, on a busy machine, would take whole columns of the map down to 0. */
static void measure_latency(struct map *m)
{
	double ns;
	int i;

	if (!m->pattern->ack_latency)
		return;
	m->comm->ops->mark_begin(m->comm, 1, "latency");
	m->latency_ns = INFINITY;
	for (i = 0; i < LATENCIES; i++) {
		ns = measure_latency_ns(m->run, 1);
		m->latency_ns = fmin(m->latency_ns, ns);
	}
	m->comm->ops->mark_end(m->comm, 1);
}

static void measure_reference(struct map *m, struct samples *out)
{
	struct comm *c = m->comm;

	c->ops->mark_begin(c, 1, "reference");
	if (m->pattern->reference)
		m->pattern->reference(m, out);
	else
		map_reference_sequence(m, out);
	c->ops->mark_end(c, 1);
}

static void measure_pingpong_too(struct map *m)
{
	struct comm *c = m->comm;

	c->ops->mark_begin(c, 1, "ping-pong");
	measure_pingpong(m->run, m->bytes, m->pattern->layout, &m->pingpong);
	c->ops->mark_end(c, 1);
}

static void samples_take(struct samples *to, struct samples *from)
{
	samples_release(to);
	*to = *from;
	samples_init(from);
}

static void map_point(struct map *m, struct map_cell *cell)
{
	char size[HUMAN_BYTES], time[HUMAN_BYTES], name[2 * HUMAN_BYTES + 4];

	snprintf(name, sizeof(name), "%s, %s", human_bytes(size, sizeof(size), m->bytes),
		 param_ns(time, sizeof(time), m->compute_ns));
	m->comm->ops->mark_begin(m->comm, 1, name);
	map_measure(m, m->pattern->sequence, &cell->measured);
	samples_take(&cell->in_calls, &m->in_calls);
	samples_take(&cell->wait, &m->wait);
	samples_take(&cell->test, &m->test);
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
		m->comm->ops->msg_prepare(m->comm, &m->out[i]);
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

static void map_points(struct map *m, struct map_axes *a, size_t done)
{
	size_t *order = sweep_shuffled(a->compute.cnt, &a->random), i;
	struct bench_run *run = m->run;

	if (m->pattern->points_begin)
		m->pattern->points_begin(m);
	for (i = 0; i < a->compute.cnt; i++) {
		m->compute_ns = a->compute.value[order[i]];
		map_point(m, &m->cell[order[i]]);
		if (m->comm->rank == 0 && run->progress)
			run->progress(run->progress_ctx, done * a->compute.cnt + i + 1,
				      a->bytes.cnt * a->compute.cnt);
	}
	if (m->pattern->points_end)
		m->pattern->points_end(m);
	free(order);
}

/* done: how many sizes were before. */
static void map_size(struct map *m, struct map_axes *a, size_t idx, size_t done)
{
	const struct result_axis axes[] = {{"bytes", a->bytes.value[idx]}, {"compute_ns", 0}};
	size_t i;

	/* Its points share their references, and are there all or not at all. */
	if (resume_has_all(m->run, axes, a->compute.value, a->compute.cnt))
		return;
	m->bytes = a->bytes.value[idx];
	m->warm = false;
	size_begin(m);
	if (m->pattern->pingpong)
		measure_pingpong_too(m);
	measure_reference(m, &m->before);
	m->warm = true;
	map_points(m, a, done);
	measure_reference(m, &m->behind);
	for (i = 0; m->comm->rank == 0 && i < a->compute.cnt; i++)
		map_point_write(m, &m->cell[i], a->compute.value[i], &a->comp[i]);
	size_end(m);
}

static struct samples *samples_of(struct map *m, size_t idx)
{
	struct samples *all[] = {&m->in_calls, &m->wait,     &m->test,	  &m->before,
				 &m->behind,   &m->blocking, &m->pingpong};

	return idx < sizeof(all) / sizeof(all[0]) ? all[idx] : NULL;
}

static void map_init(struct map *m, struct bench_run *run, const struct map_pattern *pattern,
		     size_t computations)
{
	size_t i;

	*m = (struct map){.run = run, .comm = run->comm, .pattern = pattern};
	m->clock_ns = measure_clock_ns(run->comm);
	m->message_cnt = pattern_messages(pattern, run);
	m->out = xcalloc((size_t)m->message_cnt, sizeof(*m->out));
	m->in = xcalloc((size_t)m->message_cnt, sizeof(*m->in));
	m->request = xcalloc(2 * (size_t)m->message_cnt, sizeof(*m->request));
	m->comm->ops->requests_prepare(m->comm, m->request, 2 * m->message_cnt);
	m->cell = xcalloc(computations, sizeof(*m->cell));
	for (i = 0; i < computations; i++)
		m->cell[i].compute = i;
	for (i = 0; samples_of(m, i); i++)
		samples_init(samples_of(m, i));
}

static void map_release(struct map *m, size_t computations)
{
	size_t i;

	for (i = 0; samples_of(m, i); i++)
		samples_release(samples_of(m, i));
	for (i = 0; i < computations; i++) {
		samples_release(&m->cell[i].measured);
		samples_release(&m->cell[i].in_calls);
		samples_release(&m->cell[i].wait);
		samples_release(&m->cell[i].test);
	}
	free(m->cell);
	m->comm->ops->requests_release(m->comm, m->request, 2 * m->message_cnt);
	free(m->request);
	free(m->in);
	free(m->out);
}

int map_run(struct bench_run *run)
{
	const struct map_pattern *pattern = run->bench->method;
	char limit[HUMAN_BYTES];
	struct map_axes a;
	struct map m;
	size_t *order, i;

	axes_init(&a, run, pattern);
	map_init(&m, run, pattern, a.compute.cnt);
	if (run->comm->rank == 0 && !pattern->no_bytes &&
	    run->opt->bytes_max > MAP_BYTES_MAX / (uint64_t)m.message_cnt)
		log_warn("sizes end at %s: %d messages at once would need more than %lu MiB",
			 human_bytes(limit, sizeof(limit), a.bytes.value[a.bytes.cnt - 1]),
			 m.message_cnt, MAP_BYTES_MAX >> 20);
	a.random = comm_tell(run->comm, run->comm->ops->now_ns(run->comm));
	measure_latency(&m);
	measure_computation(&m, &a);
	order = sweep_shuffled(a.bytes.cnt, &a.random);
	for (i = 0; i < a.bytes.cnt; i++)
		map_size(&m, &a, order[i], i);
	free(order);
	if (run->result)
		result_sort(run->result, "bytes", "compute_ns");
	map_release(&m, a.compute.cnt);
	axes_release(&a);
	return 0;
}

/* ---- before the run ---- */

uint64_t map_estimate_ns(const struct bench_run *run)
{
	const struct map_pattern *pattern = run->bench->method;
	int messages = pattern_messages(pattern, run),
	    phases = pattern->phases ? pattern->phases : 1;
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
		ns += 3 * estimate_point_ns(run->opt, 2 * comm_ns);
		for (k = 0; k < a.compute.cnt; k++)
			ns += estimate_point_ns(run->opt,
						comm_ns + phases * (double)a.compute.value[k]);
	}
	axes_release(&a);
	return (uint64_t)ns;
}
