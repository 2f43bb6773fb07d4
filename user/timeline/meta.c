/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Reads the trace's meta blocks, which come from outside: any member may be missing or odd. */
#include "timeline/meta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/event.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "trace/trace_read.h"
#include "trace/trace_totals.h"
#include "version.h"
#include "timeline/writer.h"

#define HOSTS_WITH_CLOCKS 16 /* there is no room for all of them */

static const char *const drop_name[POV_CLASS_CNT] = {
	"lost_calls", "lost_spins", "lost_call_details", "lost_sched", "lost_irqs", "lost_tasks",
};

/* A command as one line; words with blanks are quoted. */
static const char *command_line(struct writer_args *a, json_t *argv)
{
	char line[1024];
	size_t used = 0, i;
	json_t *word;

	line[0] = 0;
	json_array_foreach(argv, i, word)
	{
		const char *s = json_string_value(word);
		const char *quote = s && (!*s || strpbrk(s, " \t\n'\"")) ? "'" : "";
		int n = snprintf(line + used, sizeof(line) - used, "%s%s%s%s", i ? " " : "", quote,
				 s ? s : "", quote);

		if (n < 0 || (size_t)n >= sizeof(line) - used)
			break;
		used += (size_t)n;
	}
	return args_keep(a, "%s", line);
}

static const char *utc_time(struct writer_args *a, int64_t realtime_ns)
{
	time_t s = (time_t)(realtime_ns / 1000000000);
	struct tm tm;
	char text[40];

	if (realtime_ns <= 0 || !gmtime_r(&s, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		return "";
	return args_keep(a, "%s.%09lldZ", text, (long long)(realtime_ns % 1000000000));
}

static void drops_fill(struct writer_args *a, json_t *end)
{
	uint64_t cnt[POV_CLASS_CNT] = {0};
	size_t i;
	json_t *drop;

	json_array_foreach(json_object_get(end, "drops"), i, drop)
	{
		json_int_t class = json_get_int(drop, "class");
		json_int_t n = json_get_int(drop, "cnt");

		if (class >= 0 && class < POV_CLASS_CNT && n > 0)
			cnt[class] += (uint64_t)n;
	}
	for (int class = 0; class < POV_CLASS_CNT; class ++)
		args_add_uint(a, drop_name[class], cnt[class]);
}

static void clocks_fill(struct writer_args *a, const struct trace *t)
{
	struct trace_clocks clocks;

	if (trace_clocks(t, &clocks) || !clocks.has_end)
		return;
	args_add_int(a, "realtime_moved_ns", clocks.realtime_moved_ns);
	if (clocks.suspended_ns)
		args_add_int(a, "suspended_ns", clocks.suspended_ns);
}

static void select_fill(struct writer_args *a, const struct model *m,
			const struct writer_select *sel)
{
	uint32_t nranks;

	if (sel->from_ns || sel->to_ns) {
		args_add_us(a, "selected_from_us", sel->from_ns);
		if (sel->to_ns)
			args_add_us(a, "selected_to_us", sel->to_ns);
	}
	if (sel->ranks.n)
		args_add_uint(a, "selected_ranks", select_ranks(m, sel, &nranks));
	if (sel->nfunctions)
		args_add_uint(a, "selected_function_patterns", sel->nfunctions);
}

/* Corrections applied to the times of a host other than the first. */
static void host_clock_fill(struct writer_args *a, uint32_t number, const struct model_host *h)
{
	args_add_int(a, args_keep(a, "host_%u_offset_ns", number), h->offset_ns);
	args_add_int(a, args_keep(a, "host_%u_drift_ppb", number), h->drift_ppb);
	if (h->clock_by == TRACE_CLOCK_MESSAGES)
		args_add_uint(a, args_keep(a, "host_%u_uncertainty_ns", number),
			      h->clock_uncertainty_ns);
}

void meta_fill(struct writer_args *a, struct model *m, const struct writer_select *sel)
{
	const struct model_info *info = model_get_info(m);
	const struct model_host *host = model_host_get(m, 0);
	struct trace *t = model_get_trace(m);
	json_t *rec = trace_meta_find(t, "recording"), *end = trace_meta_find(t, "end");
	const char *utc;
	char *kept;

	args_reset(a);
	args_add_text(a, "host", host->name);
	args_add_text(a, "kernel", host->kernel);
	args_add_text(a, "machine", host->machine);
	for (uint32_t i = 1; i < info->nhosts; i++)
		args_add_text(a, args_keep(a, "host_%u", i + 1), model_host_get(m, i)->label);
	args_add_uint(a, "cpus", info->nr_cpus);
	args_add_text(a, "command", command_line(a, json_object_get(rec, "argv")));
	args_add_text(a, "recorded_by",
		      args_keep(a, "povtrace %s", json_get_text(rec, "povtrace")));
	args_add_text(a, "exported_by", "povtrace " POV_VERSION);
	args_add_text(a, "scheduler",
		      !info->sched_recorded ? "off" :
		      info->sched_all	    ? "all" :
					      "ranks");
	args_add_uint(a, "monotonic_start_ns", info->start_ns);
	args_add_int(a, "boottime_offset_ns", info->boottime_offset_ns);
	args_add_int(a, "realtime_offset_ns", info->realtime_offset_ns);
	utc = utc_time(a, (int64_t)info->start_ns + info->realtime_offset_ns);
	if (*utc)
		args_add_text(a, "started", utc);
	args_add_bool(a, "complete", info->complete);
	if (end)
		args_add_text(a, "ended_by", json_get_text(end, "reason"));
	kept = trace_kept_text(t);
	if (kept)
		args_add_text(a, "part", args_keep(a, "%s", kept));
	free(kept);
	drops_fill(a, end);
	clocks_fill(a, t);
	select_fill(a, m, sel);
	for (uint32_t i = 1; i < info->nhosts && i < HOSTS_WITH_CLOCKS; i++)
		host_clock_fill(a, i + 1, model_host_get(m, i));
}

char *meta_process_name(const struct model_process *p, uint32_t njobs)
{
	const char *name = p->name && *p->name ? p->name : "?";
	char rank[16] = "?";
	const char *host = p->host ? p->host : "", *sep = *host ? " \xc2\xb7 " : "";
	char job[160] = "";

	if (!p->is_rank)
		return xasprintf("%s%s%s", name, sep, host);
	if (p->rank >= 0)
		snprintf(rank, sizeof(rank), "%d", p->rank);
	if (njobs > 1 && p->job && *p->job)
		snprintf(job, sizeof(job), "job %.128s \xc2\xb7 ", p->job);
	else if (njobs > 1)
		snprintf(job, sizeof(job), "job %d \xc2\xb7 ", p->job_idx);
	return xasprintf("%srank %s \xc2\xb7 %s%s%s", job, rank, name, sep, host);
}

const char *meta_kernel_version(struct model *m)
{
	return json_get_text(trace_meta_find(model_get_trace(m), "host"), "version");
}
