/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The sweep over message size × computation time, in blocks. A block is a size with T_comm before
 * and after its points, because a shared machine drifts. Sizes, and points of a size, come in
 * random order, so that changes over time do not look like changes with size. The latency is
 * measured once.
 */
#include "overlap/map.h"

#include "lib/log.h"
#include "core/bench.h"
#include "core/overlap_map.h"
#include "core/param_text.h"
#include "core/result_file.h"
#include "core/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Limit of a rank's messages in one direction, because ranks share a machine's memory. */
#define MAP_BYTES_MAX (256UL << 20)

/* The latency is the least median of several measurements, as any disturbance makes it longer. */
#define LATENCIES 5

static const uint64_t first_compute_ns = 1000;

struct map_axes {
	struct sweep bytes, compute;
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

	if (pattern->no_bytes)
		sweep_init(&a->bytes, 0, 0, opt->step, 1, 1);
	else
		sweep_init(&a->bytes, opt->bytes_min < unit ? unit : opt->bytes_min,
			   max < unit ? unit : max, opt->step, unit, unit);
	sweep_init(&a->compute, opt->compute_min_ns, opt->compute_max_ns, opt->step,
		   first_compute_ns, 1);
}

static void axes_release(struct map_axes *a)
{
	sweep_release(&a->compute);
	sweep_release(&a->bytes);
}

/* ---- points ---- */

/* A latency wrong by milliseconds, on a busy machine, would shift whole columns of the map to 0. */
static void measure_latency(struct map *m)
{
	double ns;

	if (!m->pattern->ack_latency)
		return;
	m->comm->ops->mark_begin(m->comm, 1, "latency");
	m->latency_ns = INFINITY;
	for (int i = 0; i < LATENCIES; i++) {
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
		map_reference(m, out);
	c->ops->mark_end(c, 1);
}

static void measure_pingpong_too(struct map *m)
{
	struct comm *c = m->comm;

	c->ops->mark_begin(c, 1, "ping-pong");
	measure_pingpong(m->run, m->bytes, m->pattern->layout, &m->pingpong);
	c->ops->mark_end(c, 1);
}

static void map_point(struct map *m, struct map_cell *cell)
{
	char size[HUMAN_BYTES], time[HUMAN_BYTES], name[2 * HUMAN_BYTES + 4];

	snprintf(name, sizeof(name), "%s, %s", human_bytes(size, sizeof(size), m->bytes),
		 param_ns(time, sizeof(time), m->compute_ns));
	m->comm->ops->mark_begin(m->comm, 1, name);
	map_measure_point(m, cell);
	m->comm->ops->mark_end(m->comm, 1);
}

/* ---- the sweep ---- */

static void size_begin(struct map *m)
{
	enum comm_layout layout = m->pattern->layout;

	for (int i = 0; i < m->message_cnt && !m->pattern->own_buffers; i++) {
		m->out[i] = (struct comm_msg){bench_buffer_new(m->bytes, layout), m->bytes, layout};
		m->in[i] = (struct comm_msg){bench_buffer_new(m->bytes, layout), m->bytes, layout};
		bench_buffer_fill(m->out[i].buf, m->bytes, layout, map_seed(m, m->comm->rank, i));
		m->comm->ops->msg_prepare(m->comm, &m->out[i]);
		/* This also touches the pages, so that their first faults are not measured. */
		bench_buffer_fill(m->in[i].buf, m->bytes, layout, ~map_seed(m, m->comm->rank, i));
	}
	if (m->pattern->size_begin)
		m->pattern->size_begin(m);
}

static void size_end(struct map *m)
{
	if (m->pattern->size_end)
		m->pattern->size_end(m);
	for (int i = 0; i < m->message_cnt && !m->pattern->own_buffers; i++) {
		free(m->out[i].buf);
		free(m->in[i].buf);
	}
}

/*
 * Estimates, by the variation of computation at earlier sizes, at how many computation times this
 * size will have a known ratio.
 */
static size_t computations_known(const struct map *m, const struct map_axes *a)
{
	const struct result *result = m->run->result;
	double line, comm_ns = stats_quantile(&m->before, 0.5);
	size_t cnt = a->compute.cnt;

	if (!m->run->opt->compute_by_ratio)
		return cnt;
	line = result ? map_line_of(json_object_get(result_json(result), "points")) : 0;
	while (result && cnt > 1 && map_is_left(line, comm_ns, (double)a->compute.value[cnt - 1]))
		cnt--;
	return comm_tell(m->comm, cnt);
}

/* Measures the first `known` computation times. */
static void map_points(struct map *m, struct map_axes *a, size_t known, size_t done)
{
	size_t *order = sweep_shuffled(a->compute.cnt, &m->random);

	if (m->pattern->points_begin)
		m->pattern->points_begin(m);
	for (size_t i = 0; i < a->compute.cnt; i++) {
		m->compute_ns = a->compute.value[order[i]];
		if (order[i] < known)
			map_point(m, &m->cell[order[i]]);
		bench_progress(m->run, done * a->compute.cnt + i + 1,
			       a->bytes.cnt * a->compute.cnt);
	}
	if (m->pattern->points_end)
		m->pattern->points_end(m);
	free(order);
}

/* done: number of earlier sizes. */
static void map_size(struct map *m, struct map_axes *a, size_t idx, size_t done)
{
	const struct result_axis axes[] = {{"bytes", a->bytes.value[idx]}, {"compute_ns", 0}};
	size_t known;

	/* Points of a size share their references, so either all of them exist or none. */
	if (resume_has_all(m->run, axes, a->compute.value, a->compute.cnt))
		return;
	m->bytes = a->bytes.value[idx];
	m->warm = false;
	size_begin(m);
	if (m->pattern->pingpong)
		measure_pingpong_too(m);
	measure_reference(m, &m->before);
	m->warm = true;
	known = computations_known(m, a);
	map_points(m, a, known, done);
	measure_reference(m, &m->after);
	for (size_t i = 0; m->comm->rank == 0 && i < known; i++)
		map_point_write(m, &m->cell[i], a->compute.value[i]);
	size_end(m);
}

static void map_init(struct map *m, struct bench_run *run, const struct map_pattern *pattern,
		     size_t computations)
{
	*m = (struct map){.run = run, .comm = run->comm, .pattern = pattern};
	m->clock_ns = measure_clock_ns(run->comm);
	m->message_cnt = pattern_messages(pattern, run);
	m->out = xcalloc((size_t)m->message_cnt, sizeof(*m->out));
	m->in = xcalloc((size_t)m->message_cnt, sizeof(*m->in));
	m->request = xcalloc(2 * (size_t)m->message_cnt, sizeof(*m->request));
	m->comm->ops->requests_prepare(m->comm, m->request, 2 * m->message_cnt);
	m->cell = xcalloc(computations, sizeof(*m->cell));
}

static void map_release(struct map *m, size_t computations)
{
	for (size_t i = 0; i < computations; i++)
		map_cell_release(&m->cell[i]);
	map_cell_release(&m->point);
	samples_release(&m->before);
	samples_release(&m->after);
	samples_release(&m->blocking);
	samples_release(&m->pingpong);
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
	size_t *order;

	axes_init(&a, run, pattern);
	map_init(&m, run, pattern, a.compute.cnt);
	if (run->comm->rank == 0 && !pattern->no_bytes &&
	    run->opt->bytes_max > MAP_BYTES_MAX / (uint64_t)m.message_cnt)
		log_warn("sizes end at %s: %d messages at once would need more than %lu MiB",
			 human_bytes(limit, sizeof(limit), a.bytes.value[a.bytes.cnt - 1]),
			 m.message_cnt, MAP_BYTES_MAX >> 20);
	m.random = comm_tell(run->comm, run->comm->ops->now_ns(run->comm));
	measure_latency(&m);
	order = sweep_shuffled(a.bytes.cnt, &m.random);
	for (size_t i = 0; i < a.bytes.cnt; i++)
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

	axes_init(&a, run, pattern);
	for (size_t i = 0; i < a.bytes.cnt; i++) {
		comm_ns = wait_ns * run->comm->size +
			  (double)a.bytes.value[i] * messages * phases / ESTIMATE_BYTES_PER_NS;
		ns += 3 * estimate_point_ns(run->opt, 2 * comm_ns);
		for (size_t k = 0; k < a.compute.cnt; k++)
			ns += estimate_point_ns(run->opt,
						(1 + 1.0 / MAP_DETAIL_EVERY) *
							(comm_ns + wait_ns +
							 2 * phases * (double)a.compute.value[k]));
	}
	axes_release(&a);
	return (uint64_t)ns;
}
