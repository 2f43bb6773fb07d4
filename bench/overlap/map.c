/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The sweep over message size × computation time, in blocks: a block is a size, with T_comm before and after its points,
 * since a shared machine drifts. Sizes, and points of a size, come in random order, so that what changes with time does not look
 * like a change with size. The latency is taken once for all.
 *
 * A point is sampled in pairs: the sequence and its computation alone, one right after the other. A computation is often a thousand
 * times as long as a message, and its pace changes by more than that: only beside each other do the two differ by the message. Which
 * one comes first is random, so that neither a steady drift nor an interrupt's period favours one of them.
 */
#include "overlap/map.h"

#include "base/log.h"
#include "core/estimate.h"
#include "core/map_judge.h"
#include "core/param_text.h"
#include "core/result_file.h"
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

static double less_latency(const struct map *m, double ns)
{
	return fmax(0, fmax(ns - m->latency_ns, fmin(ns, m->own_ns)));
}

/* The next sample is taken for what is spent in calls. */
static bool is_detail(const struct map *m)
{
	return m->sample_cnt % DETAIL_EVERY == 0;
}

static void map_prepare(struct bench_run *run, void *ctx)
{
	struct map *m = ctx;

	(void)run;
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
		samples_add(&m->in_calls, fmax(0, m->in_calls_ns));
		samples_add(&m->wait, fmax(0, m->wait_ns));
		samples_add(&m->test, fmax(0, m->test_ns));
		m->detail = false;
		return NAN;
	}
	return ns;
}

/* ---- pairs ---- */

static double map_computation(struct map *m)
{
	int phases = m->pattern->phases ? m->pattern->phases : 1, i;
	double ns;

	m->timing = false;
	m->detail = false;
	if (m->pattern->computation)
		return fmax(0, m->pattern->computation(m));
	/* The others go on to wait for the next synchronisation. */
	if (m->comm->rank != 0 && !m->pattern->all_compute)
		return 0;
	map_begin(m);
	for (i = 0; i < phases; i++)
		map_compute(m);
	ns = fmax(0, map_end(m) / phases);
	if (!m->pattern->all_compute)
		return ns;
	m->slowest_ns = map_longest(m, ns);
	return m->pattern->longest ? m->slowest_ns : ns;
}

static void toss(struct map *m)
{
	/* Knuth's MMIX generator; its high bits are the good ones. */
	m->random = m->random * 6364136223846793005u + 1442695040888963407u;
	m->alone_first = m->random >> 63;
}

static double (*communication_of(const struct map *m))(struct map *)
{
	return m->pattern->communication ? m->pattern->communication : m->pattern->sequence;
}

/* The synchronisation before another part of a sample, which is the sequence, or prepared like it. */
static void next_part(struct map *m, bool prepares)
{
	if (prepares && m->pattern->prepare)
		m->pattern->prepare(m);
	comm_sync(m->comm, 1);
}

/* Its calls find the caches as a computation leaves them, not as the message before did. */
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
	samples_add(&m->beside, ns);
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
	samples_add(&m->alone, alone);
	if (m->slowest_ns > 0)
		samples_add(&m->slowest, m->slowest_ns);
	toss(m);
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
	samples_clear(&m->alone);
	samples_clear(&m->slowest);
	samples_clear(&m->beside);
	samples_clear(&m->in_calls);
	samples_clear(&m->wait);
	samples_clear(&m->test);
	m->sample_cnt = 0;
	measure(m->run, &how, out);
	details = out->cnt / (DETAIL_EVERY - 1) ?: 1;
	samples_keep_last(&m->alone, out->cnt);
	samples_keep_last(&m->slowest, out->cnt);
	samples_keep_last(&m->beside, details);
	samples_keep_last(&m->in_calls, details);
	samples_keep_last(&m->wait, details);
	samples_keep_last(&m->test, details);
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

/* ---- points ---- */

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
	map_measure(m, m->pattern->sequence, true, &cell->measured);
	samples_take(&cell->alone, &m->alone);
	samples_take(&cell->slowest, &m->slowest);
	samples_take(&cell->beside, &m->beside);
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

/* How many of the computation times can be told of this size, by what computation was seen to vary by at the sizes before. */
static size_t computations_told(const struct map *m, const struct map_axes *a)
{
	const struct result *result = m->run->result;
	double line, comm_ns = stats_quantile(&m->before, 0.5);
	size_t cnt = a->compute.cnt;

	if (!m->run->opt->compute_told)
		return cnt;
	line = result ? map_line_of(json_object_get(result_json(result), "points")) : 0;
	while (result && cnt > 1 && map_is_left(line, comm_ns, (double)a->compute.value[cnt - 1]))
		cnt--;
	return comm_tell(m->comm, cnt);
}

/* The first `told` computation times. */
static void map_points(struct map *m, struct map_axes *a, size_t told, size_t done)
{
	size_t *order = sweep_shuffled(a->compute.cnt, &m->random), i;
	struct bench_run *run = m->run;

	if (m->pattern->points_begin)
		m->pattern->points_begin(m);
	for (i = 0; i < a->compute.cnt; i++) {
		m->compute_ns = a->compute.value[order[i]];
		if (order[i] < told)
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
	size_t told, i;

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
	told = computations_told(m, a);
	map_points(m, a, told, done);
	measure_reference(m, &m->behind);
	for (i = 0; m->comm->rank == 0 && i < told; i++)
		map_point_write(m, &m->cell[i], a->compute.value[i]);
	size_end(m);
}

static struct samples *samples_of(struct map *m, size_t idx)
{
	struct samples *all[] = {&m->alone, &m->slowest, &m->beside, &m->in_calls, &m->wait,
				 &m->test,  &m->before,	 &m->behind, &m->blocking, &m->pingpong};

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
		samples_release(&m->cell[i].alone);
		samples_release(&m->cell[i].slowest);
		samples_release(&m->cell[i].beside);
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
	m.random = comm_tell(run->comm, run->comm->ops->now_ns(run->comm));
	measure_latency(&m);
	order = sweep_shuffled(a.bytes.cnt, &m.random);
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
	for (i = 0; i < a.bytes.cnt; i++) {
		comm_ns = wait_ns * run->comm->size +
			  (double)a.bytes.value[i] * messages * phases / ESTIMATE_BYTES_PER_NS;
		ns += 3 * estimate_point_ns(run->opt, 2 * comm_ns);
		for (k = 0; k < a.compute.cnt; k++)
			ns += estimate_point_ns(run->opt,
						(double)(1 + 1.0 / DETAIL_EVERY) *
							(comm_ns + wait_ns +
							 2 * phases * (double)a.compute.value[k]));
	}
	axes_release(&a);
	return (uint64_t)ns;
}
