/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Opens the recordings and relates their clocks. */
#include "trace/trace_join.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/progress.h"
#include "trace/trace_file.h"
#include "trace/trace_joined.h"
#include "trace/trace_totals.h"

/* A larger gain against CLOCK_REALTIME is no drift: the time of day was set. */
#define DRIFT_MAX 1e-3

/* Gain of CLOCK_REALTIME per nanosecond of a host's CLOCK_MONOTONIC. */
static double clocks_drift(const struct trace_clocks *c, const char *path)
{
	double span_ns = (double)(c->end.monotonic_ns - c->begin.monotonic_ns), drift;

	if (!c->has_end || span_ns <= 0)
		return 0;
	drift = (double)c->realtime_moved_ns / span_ns;
	if (fabs(drift) <= DRIFT_MAX)
		return drift;
	log_warn("trace: %s: the time of day was set while it was recorded (by %.3f s): its times "
		 "are related to the others' as it was before",
		 path, (double)c->realtime_moved_ns / 1e9);
	return 0;
}

/* b - a of two times of day, limited because a broken clock may be off by any amount. */
static int64_t realtime_apart(uint64_t a, uint64_t b)
{
	int64_t ns = (int64_t)(b - a);

	return ns > INT64_MAX / 2 ? INT64_MAX / 2 : ns < -(INT64_MAX / 2) ? -(INT64_MAX / 2) : ns;
}

static int clock_relate(struct join_part *p, const struct join_part *first, int64_t offset_ns)
{
	struct trace_clocks own, others;
	double drift, first_drift;

	if (trace_clocks(p->trace, &own) || trace_clocks(first->trace, &others)) {
		log_error("trace: %s has no clocks to relate its times by",
			  trace_clocks(p->trace, &own) ? p->path : first->path);
		return -EINVAL;
	}
	p->clock.from_ns = own.begin.monotonic_ns;
	p->clock.to_ns = others.begin.monotonic_ns + (uint64_t)offset_ns;
	if (p == first)
		return 0;
	drift = clocks_drift(&own, p->path);
	first_drift = clocks_drift(&others, first->path);
	p->clock.drift = (1 + drift) / (1 + first_drift) - 1;
	p->clock.to_ns += (uint64_t)(int64_t)((double)realtime_apart(others.begin.realtime_ns,
								     own.begin.realtime_ns) /
					      (1 + first_drift));
	return 0;
}

const struct trace_summary *joined_summary(struct trace_joined *j)
{
	struct trace_summary *sum = &j->sum;

	memset(sum, 0, sizeof(*sum));
	sum->complete = true;
	for (size_t i = 0; i < j->cnt; i++) {
		const struct trace_summary *s = trace_get_summary(j->part[i].trace);
		uint64_t first_ns = join_time(&j->part[i], s->first_ns);
		uint64_t last_ns = join_time(&j->part[i], s->last_ns);

		if (s->event_blocks && (!sum->event_blocks || first_ns < sum->first_ns))
			sum->first_ns = first_ns;
		if (s->event_blocks && last_ns > sum->last_ns)
			sum->last_ns = last_ns;
		sum->blocks += s->blocks;
		sum->meta_blocks += s->meta_blocks;
		sum->event_blocks += s->event_blocks;
		sum->records += s->records;
		sum->file_bytes += s->file_bytes;
		sum->complete &= s->complete;
		sum->unknown_blocks += s->unknown_blocks;
		sum->bad_blocks += s->bad_blocks;
		sum->lost_tail_bytes += s->lost_tail_bytes;
		sum->bad_records += s->bad_records;
		sum->holes |= s->holes;
	}
	return sum;
}

void joined_close(struct trace_joined *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->cnt; i++) {
		trace_close(j->part[i].trace);
		free(j->part[i].func);
	}
	free(j->part);
	free(j);
}

void trace_sources_progress(const struct trace_source *source, size_t cnt, unsigned int quick,
			    unsigned int passes)
{
	const char *slash = strrchr(source->path, '/');

	progress_begin(source->temporary ? "recording" :
		       slash		 ? slash + 1 :
					   source->path,
		       quick + (cnt > 1), passes);
}

static int parts_open(struct trace_joined *j, const struct trace_source *source)
{
	int err = 0;

	for (size_t i = 0; i < j->cnt && !err; i++) {
		struct join_part *p = &j->part[i];

		p->path = source[i].path;
		p->host = (uint32_t)i;
		p->fit.by = source[i].offset_given ? TRACE_CLOCK_GIVEN : TRACE_CLOCK_TIME_OF_DAY;
		p->fit.host = p->host;
		err = trace_open(p->path, &p->trace);
		if (!err)
			err = clock_relate(p, &j->part[0], source[i].offset_ns);
	}
	return err;
}

int trace_join_open(const struct trace_source *source, size_t cnt, struct trace **out)
{
	struct trace_joined *j;
	struct trace *t;
	int err;

	if (cnt == 1 && !source->offset_ns)
		return trace_open(source->path, out);
	if (cnt > TRACE_HOSTS_MAX) {
		log_error("trace: %zu recordings are more than can be read together (%d)", cnt,
			  TRACE_HOSTS_MAX);
		return -EINVAL;
	}
	j = xcalloc(1, sizeof(*j));
	j->cnt = cnt;
	j->part = xcalloc(cnt, sizeof(*j->part));
	t = xcalloc(1, sizeof(*t));
	t->fd = -1;
	t->path = xstrdup(source->path);
	t->joined = j;
	err = parts_open(j, source);
	if (!err)
		err = join_metas(j, &t->meta, &t->nmeta);
	if (!err && !source->one_run)
		err = join_runs_check(j);
	if (err)
		trace_close(t);
	else
		*out = t;
	return err;
}

static void clock_correct(struct join_part *p, const struct trace_clock_fit *fit)
{
	double since_ns = (double)(int64_t)(p->clock.to_ns - fit->at_ns);

	if (fit->by != TRACE_CLOCK_MESSAGES && p->fit.by == TRACE_CLOCK_MESSAGES) {
		p->fit.violated_ns = fit->violated_ns;
		return;
	}
	p->fit = *fit;
	p->clock.to_ns += (uint64_t)llround(fit->apart_ns + fit->drift * since_ns);
	p->clock.drift = (1 + p->clock.drift) * (1 + fit->drift) - 1;
}

int trace_join_correct(struct trace *t, const struct trace_clock_fit *fit)
{
	for (size_t i = 0; i < t->joined->cnt; i++)
		clock_correct(&t->joined->part[i], &fit[i]);
	for (size_t i = 0; i < t->nmeta; i++)
		json_decref(t->meta[i]);
	free(t->meta);
	t->meta = NULL;
	t->nmeta = 0;
	return join_metas(t->joined, &t->meta, &t->nmeta);
}
