/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "trace/trace_kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "trace/trace_read.h"
#include "trace/trace_totals.h"

#define NS_PER_S 1000000000

static const json_t *kept_of(const struct trace *t)
{
	return json_object_get(trace_meta_find(t, "recording"), "kept");
}

char *trace_kept_text(const struct trace *t)
{
	const json_t *kept = kept_of(t);
	uint64_t since_ns = json_get_u64(kept, "since_ns"), span_ns = json_get_u64(kept, "span_ns");
	char ago[HUMAN_BYTES], limit[HUMAN_BYTES], when[64] = "";
	time_t seconds = (time_t)(trace_realtime(t, since_ns) / NS_PER_S);
	uint64_t start_ns, end_ns;
	struct tm tm;

	if (!kept)
		return NULL;
	trace_times(t, &start_ns, &end_ns);
	if (seconds && gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC, ", &tm);
	if (span_ns)
		human_ns(limit, sizeof(limit), span_ns);
	else
		human_bytes(limit, sizeof(limit), json_get_u64(kept, "bytes"));
	return xasprintf("the newest part of a recording that began %s%s before this one's end; "
			 "the last %s were kept%s",
			 when,
			 human_ns(ago, sizeof(ago), end_ns > since_ns ? end_ns - since_ns : 0),
			 limit,
			 json_get_u64(kept, "forgotten") ?
				 "; of communicators made before, some are not known" :
				 "");
}

char *trace_trigger_text(const struct trace *t)
{
	const json_t *end = kept_of(t) ? trace_meta_find(t, "end") : NULL;
	const json_t *by = json_object_get(end, "trigger"), *all = json_object_get(end, "triggers");
	uint64_t begin_ns = json_get_u64(by, "begin_ns"), end_ns = json_get_u64(by, "end_ns");
	char took[HUMAN_BYTES], matches[64], who[48] = "", *call;
	int64_t rank = json_get_int(by, "rank");
	char *text;

	if (!all)
		return NULL;
	snprintf(who, sizeof(who), rank >= 0 ? "rank %" PRId64 : "process %" PRId64,
		 rank >= 0 ? rank : json_get_int(by, "pid"));
	call = !by ? xstrdup("") :
		     xasprintf("%s of %s took %s; ", json_get_text(by, "function"), who,
			       human_ns(took, sizeof(took),
					end_ns > begin_ns ? end_ns - begin_ns : 0));
	text = xasprintf("%s%s matched since the recording began, and %" PRIu64
			 " had a file written",
			 call,
			 human_plural(matches, sizeof(matches), json_get_u64(all, "matches"),
				      "call", "calls"),
			 json_get_u64(all, "written"));
	free(call);
	return text;
}
