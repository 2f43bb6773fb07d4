/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Several recordings read as one: see trace_join.h. join_meta.c has their meta objects. */
#include "trace/trace_join.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/progress.h"
#include "lib/table.h"
#include "trace/record_kinds.h"
#include "trace/trace_file.h"
#include "trace/trace_totals.h"

/* ---- recordings that belong together ---- */

/*
 * Rejects recordings of one host that belong to different runs: made at different times, or of
 * different jobs. Read as one, they would claim that ranks of one run waited for those of another.
 */

static const char *part_hostname(const struct join_part *p)
{
	return json_get_text(trace_meta_find(p->trace, "host"), "hostname");
}

static uint64_t part_begin_ns(const struct join_part *p)
{
	return join_time(p, json_get_u64(trace_meta_find(p->trace, "recording"), "start_ns"));
}

/* A recording that was cut off ends with its last record. */
static uint64_t part_end_ns(const struct join_part *p)
{
	uint64_t ns = json_get_u64(trace_meta_find(p->trace, "end"), "ts_ns");

	return join_time(p, ns ? ns : trace_get_summary(p->trace)->last_ns);
}

/* The launcher's job name if object i is a process with one; else "". */
static const char *job_at(const struct trace *t, size_t i)
{
	const json_t *meta = trace_meta_get(t, i);

	return json_is_type(meta, "process") ? json_get_text(meta, "job") : "";
}

static bool has_job(const struct trace *t, const char *name)
{
	return table_any(trace_meta_count(t), i,
			 *job_at(t, i) && (!name || !strcmp(job_at(t, i), name)));
}

/* A recording without any job name matches every job. */
static bool share_job(const struct trace *a, const struct trace *b)
{
	if (!has_job(a, NULL) || !has_job(b, NULL))
		return true;
	return table_any(trace_meta_count(a), i, *job_at(a, i) && has_job(b, job_at(a, i)));
}

static const char *parts_conflict(const struct join_part *a, const struct join_part *b)
{
	if (strcmp(part_hostname(a), part_hostname(b)) != 0)
		return NULL;
	if (part_end_ns(a) <= part_begin_ns(b) || part_end_ns(b) <= part_begin_ns(a))
		return "were recorded on one host at different times";
	return share_job(a->trace, b->trace) ? NULL : "belong to different jobs on one host";
}

/*
 * Checks by times and jobs that recordings of one host belong to one run. 0 or -EINVAL (printed).
 */
static int join_runs_check(const struct trace_joined *j)
{
	for (size_t i = 0; i < j->cnt; i++) {
		for (size_t k = 0; k < i; k++) {
			const char *why = parts_conflict(&j->part[k], &j->part[i]);

			if (!why)
				continue;
			log_error("trace: %s and %s %s: they do not belong to one run. Compare "
				  "runs with `povtrace diff`, or read them as one with --one-run",
				  j->part[k].path, j->part[i].path, why);
			return -EINVAL;
		}
	}
	return 0;
}

/* ---- records ---- */

/*
 * Merges the records of all parts in order of their common time. Each part hands out one record at
 * a time in its own order, which the clocks preserve. A copy of the record gets the joined numbers.
 */

#define RECORD_WORDS (65536 / 8)

struct join_source {
	const struct join_part *part;
	struct trace_merge *merge;
	uint64_t *rec; /* the next record, renumbered; owned */
	/* a loss on a ring of several CPUs: number of CPUs it must still be repeated for */
	uint32_t again;
	bool ended;
};

struct join_merge {
	const struct trace_joined *joined;
	struct join_source *source;
	size_t cnt;
	struct join_source *top; /* source of the record handed out last */
};

uint64_t join_time(const struct join_part *p, uint64_t ns)
{
	int64_t since = (int64_t)(ns - p->clock.from_ns), at;

	if (p->clock.drift != 0)
		since += (int64_t)((double)since * p->clock.drift);
	at = (int64_t)p->clock.to_ns + since;
	return at > 0 ? (uint64_t)at : 1; /* before the first host was booted */
}

/* A CPU that its host does not have stays invalid. */
static uint16_t part_cpu(const struct join_part *p, uint16_t cpu)
{
	return cpu < p->cpus ? (uint16_t)(p->cpu_base + cpu) : UINT16_MAX;
}

static uint64_t part_dur_ns(const struct join_part *p, uint64_t end_ns, uint64_t dur_ns)
{
	return join_time(p, end_ns) - join_time(p, end_ns - dur_ns);
}

/* A member's value in the joined trace. The record still has its own host's time. */
static uint64_t member_joined(const struct join_part *p, const struct pov_hdr *h,
			      const struct record_member *m, uint64_t v)
{
	switch (m->role) {
	case ROLE_TASK:
		return join_id(p, (uint32_t)v);
	case ROLE_CPU:
		return part_cpu(p, (uint16_t)v);
	case ROLE_TIME:
		return join_time(p, v);
	case ROLE_DURATION:
		return part_dur_ns(p, h->ts_ns, v);
	case ROLE_FUNCTION:
		return p->func[v];
	case ROLE_LIBRARY:
		return (uint16_t)(p->lib_base + v);
	case ROLE_REGION:
		return v < POV_REGIONS_MAX ? p->region[v] : UINT16_MAX;
	case ROLE_INODE:
		return join_ino(p, v);
	}
	return v;
}

static void members_map(const struct join_part *p, const struct record_kind *k, struct pov_hdr *h)
{
	uint64_t v;

	for (const struct record_member *m = k->member; m->name; m++) {
		char *at = (char *)h + m->offset;

		if (m->role == ROLE_PLAIN || m->offset + m->bytes > h->size)
			continue;
		v = 0;
		memcpy(&v, at, m->bytes);
		v = member_joined(p, h, m, v);
		memcpy(at, &v, m->bytes);
	}
}

static void polls_map(const struct join_part *p, struct pov_spin *s)
{
	for (unsigned int i = 0; i < s->nfuncs; i++) {
		s->func[i].func = p->func[s->func[i].func];
		s->func[i].lib = (uint16_t)(p->lib_base + s->func[i].lib);
		if (s->func[i].busy_ns > s->dur_ns) /* drift may add some nanoseconds */
			s->func[i].busy_ns = s->dur_ns;
	}
}

/*
 * In the joined trace each CPU has its own ring, whatever rings the hosts had. Returns the number
 * of further CPUs that the loss affects.
 */
static uint32_t lost_map(const struct join_part *p, uint32_t cpus, struct pov_lost *l)
{
	uint32_t first = l->ring * p->cpus_per_ring, n = p->cpus_per_ring;

	l->since_ns = join_time(p, l->since_ns);
	if (l->ring >= p->rings || first >= p->cpus) {
		l->ring = (uint16_t)cpus; /* all rings */
		return 0;
	}
	if (l->ring + 1u == p->rings || n > p->cpus - first)
		n = p->cpus - first;
	l->ring = (uint16_t)(p->cpu_base + first);
	return n - 1;
}

/* Gives a record joined numbers and times. Returns how often it must be repeated (lost_map). */
static uint32_t record_map(const struct join_part *p, uint32_t cpus, struct pov_hdr *h)
{
	const struct record_kind *k = record_kind_find(h->kind);
	uint32_t again = 0;

	if (h->kind == POV_KIND_LOST || h->kind == POV_KIND_LOSS_BEGIN ||
	    h->kind == POV_KIND_LOSS_END)
		again = lost_map(p, cpus, (struct pov_lost *)h);
	else if (k)
		members_map(p, k, h);
	if (h->kind == POV_KIND_SPIN)
		polls_map(p, (struct pov_spin *)h);
	h->tid = join_id(p, h->tid);
	h->ts_ns = join_time(p, h->ts_ns);
	return again;
}

/* Prepares the next record of a part. 0 or -errno (printed). */
static int source_advance(struct join_merge *m, struct join_source *s)
{
	struct pov_hdr *h = (struct pov_hdr *)s->rec;
	const struct pov_hdr *rec;
	int got;

	if (s->again) {
		s->again--;
		((struct pov_lost *)h)->ring++;
		((struct pov_lost *)h)->cnt = 0; /* counted with the first one */
		return 0;
	}
	got = trace_merge_next(s->merge, &rec);
	if (got != 1) {
		s->ended = true;
		return got;
	}
	memcpy(h, rec, rec->size);
	s->again = record_map(s->part, m->joined->cpus, h);
	return 0;
}

int join_merge_open(struct trace_joined *j, const struct trace_merge_options *opt,
		    struct join_merge **out)
{
	struct join_merge *m = xcalloc(1, sizeof(*m));
	int err = 0;

	m->joined = j;
	m->source = xcalloc(j->cnt, sizeof(*m->source));
	for (; m->cnt < j->cnt && !err; m->cnt++) {
		struct join_source *s = &m->source[m->cnt];

		s->part = &j->part[m->cnt];
		s->rec = xcalloc(RECORD_WORDS, sizeof(*s->rec));
		err = trace_merge_open(s->part->trace, opt, &s->merge);
		if (!err)
			err = source_advance(m, s);
	}
	if (err) {
		join_merge_close(m);
		return err;
	}
	*out = m;
	return 0;
}

int join_merge_next(struct join_merge *m, const struct pov_hdr **rec)
{
	struct join_source *first = NULL;
	int err = m->top ? source_advance(m, m->top) : 0;

	m->top = NULL;
	if (err)
		return err;
	for (size_t i = 0; i < m->cnt; i++) {
		struct join_source *s = &m->source[i];

		if (!s->ended && (!first || ((struct pov_hdr *)s->rec)->ts_ns <
						    ((struct pov_hdr *)first->rec)->ts_ns))
			first = s;
	}
	if (!first)
		return 0;
	m->top = first;
	*rec = (const struct pov_hdr *)first->rec;
	return 1;
}

void join_merge_close(struct join_merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->cnt; i++) {
		trace_merge_close(m->source[i].merge);
		free(m->source[i].rec);
	}
	free(m->source);
	free(m);
}

/* ---- opening ---- */

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
