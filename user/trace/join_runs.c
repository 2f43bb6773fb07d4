/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Rejects recordings of one host that belong to different runs: made at different times, or of
 * different jobs. Read as one, they would claim that ranks of one run waited for those of another.
 */
#include <errno.h>
#include <string.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "trace/trace_file.h"
#include "trace/trace_joined.h"

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
	for (size_t i = 0; i < trace_meta_count(t); i++)
		if (*job_at(t, i) && (!name || !strcmp(job_at(t, i), name)))
			return true;
	return false;
}

/* A recording without any job name matches every job. */
static bool share_job(const struct trace *a, const struct trace *b)
{
	if (!has_job(a, NULL) || !has_job(b, NULL))
		return true;
	for (size_t i = 0; i < trace_meta_count(a); i++)
		if (*job_at(a, i) && has_job(b, job_at(a, i)))
			return true;
	return false;
}

static const char *parts_conflict(const struct join_part *a, const struct join_part *b)
{
	if (strcmp(part_hostname(a), part_hostname(b)) != 0)
		return NULL;
	if (part_end_ns(a) <= part_begin_ns(b) || part_end_ns(b) <= part_begin_ns(a))
		return "were recorded on one host at different times";
	return share_job(a->trace, b->trace) ? NULL : "belong to different jobs on one host";
}

int join_runs_check(const struct trace_joined *j)
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
