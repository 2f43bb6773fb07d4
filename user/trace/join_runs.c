/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Refuses recordings of one host that are not of one run: made at different times, or of other jobs. Read as one they would say that ranks
 * of one run waited for those of another.
 */
#include <errno.h>
#include <string.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "trace/trace_file.h"
#include "trace/trace_joined.h"

static const char *host_of(const struct join_part *p)
{
	return json_get_text(trace_meta_find(p->trace, "host"), "hostname");
}

static uint64_t begin_ns(const struct join_part *p)
{
	return join_time(p, json_get_u64(trace_meta_find(p->trace, "recording"), "start_ns"));
}

/* Of one that was cut off, as far as it goes. */
static uint64_t end_ns(const struct join_part *p)
{
	uint64_t ns = json_get_u64(trace_meta_find(p->trace, "end"), "ts_ns");

	return join_time(p, ns ? ns : trace_get_summary(p->trace)->last_ns);
}

/* The launcher's name of the i-th object's job, if that is a process that has one; else "". */
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

/* Where one names no job at all, it may be any. */
static bool share_job(const struct trace *a, const struct trace *b)
{
	if (!has_job(a, NULL) || !has_job(b, NULL))
		return true;
	for (size_t i = 0; i < trace_meta_count(a); i++)
		if (*job_at(a, i) && has_job(b, job_at(a, i)))
			return true;
	return false;
}

static const char *why_apart(const struct join_part *a, const struct join_part *b)
{
	if (strcmp(host_of(a), host_of(b)) != 0)
		return NULL;
	if (end_ns(a) <= begin_ns(b) || end_ns(b) <= begin_ns(a))
		return "were recorded on one host at different times";
	return share_job(a->trace, b->trace) ? NULL : "are of different jobs on one host";
}

int join_runs_check(const struct trace_joined *j)
{
	for (size_t i = 0; i < j->cnt; i++) {
		for (size_t k = 0; k < i; k++) {
			const char *why = why_apart(&j->part[k], &j->part[i]);

			if (!why)
				continue;
			log_error(
				"trace: %s and %s %s: they are not of one run. `povtrace diff` compares runs; "
				"--one-run reads them as one all the same",
				j->part[k].path, j->part[i].path, why);
			return -EINVAL;
		}
	}
	return 0;
}
