/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "trace/trace_totals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "trace/record_kinds.h"
#include "trace/trace_read.h"

/* The clocks are not read at one instant. Real suspensions are longer than this. */
#define SUSPEND_MIN_NS 1000000

static void totals_add_record(struct trace_totals *s, const struct pov_hdr *rec)
{
	s->records++;
	s->raw_bytes += rec->size;
	s->kind[rec->kind]++;
	if (rec->kind == POV_KIND_CALL) {
		s->open_calls += !!(rec->flags & POV_CALL_OPEN);
		s->nested_calls += ((const struct pov_call *)rec)->depth > 0;
	} else if (rec->kind == POV_KIND_SPIN) {
		const struct pov_spin *spin = (const struct pov_spin *)rec;

		for (unsigned int i = 0; i < spin->nfuncs; i++)
			s->polls += spin->func[i].cnt;
	} else if (rec->kind == POV_KIND_SWITCH) {
		s->preempted += !!(rec->flags & POV_SWITCH_PREEMPTED);
	} else if (rec->kind == POV_KIND_LOST) {
		const struct pov_lost *lost = (const struct pov_lost *)rec;

		if (lost->class < POV_CLASS_CNT)
			s->lost[lost->class] += lost->cnt;
	}
}

int trace_totals_count(struct trace *t, struct trace_totals *out)
{
	struct trace_totals s = {0};
	const struct pov_hdr *rec;
	struct trace_merge *m;
	int err = trace_merge_open(t, NULL, &m);

	if (err)
		return err;
	while ((err = trace_merge_next(m, &rec)) > 0)
		totals_add_record(&s, rec);
	trace_merge_close(m);
	if (!err)
		*out = s;
	return err;
}

/* The end object has the number of the class. Returns a string borrowed from drop, or static. */
static const char *class_name(const json_t *drop)
{
	const json_t *class = json_object_get(drop, "class");
	json_int_t i = json_integer_value(class);

	if (json_is_string(class))
		return json_string_value(class);
	return i >= 0 && i < POV_CLASS_CNT ? record_class_names[i] : "unknown";
}

static void drop_add(json_t *drops, json_int_t ring, const char *class, json_int_t cnt)
{
	json_array_append_new(drops,
			      json_pack("{s:I,s:s,s:I}", "ring", ring, "class", class, "cnt", cnt));
}

json_t *trace_drops(const struct trace *t, const struct trace_totals *s)
{
	json_t *drops = json_array(), *drop;
	const json_t *end = trace_meta_find(t, "end");
	size_t i;

	json_array_foreach(json_object_get(end, "drops"), i, drop)
	{
		drop_add(drops, json_get_int(drop, "ring"), class_name(drop),
			 json_get_int(drop, "cnt"));
	}
	for (i = 0; i < POV_CLASS_CNT && !end; i++)
		if (s->lost[i])
			drop_add(drops, -1, record_class_names[i], (json_int_t)s->lost[i]);
	return drops;
}

void trace_times(const struct trace *t, uint64_t *start_ns, uint64_t *end_ns)
{
	const json_t *end = trace_meta_find(t, "end");
	const json_t *recording = trace_meta_find(t, "recording");
	const struct trace_summary *sum = trace_get_summary(t);

	*start_ns = recording ? (uint64_t)json_get_int(recording, "start_ns") : sum->first_ns;
	*end_ns = end ? (uint64_t)json_get_int(end, "ts_ns") : sum->last_ns;
	if (*end_ns < *start_ns)
		*end_ns = *start_ns;
}

/* Computes modulo 2^64: a damaged file may contain anything. */
static int64_t clock_moved_ns(uint64_t begin, uint64_t end, uint64_t begin_mono, uint64_t end_mono)
{
	return (int64_t)((end - begin) - (end_mono - begin_mono));
}

static void clock_read(const json_t *meta, struct trace_clock *out)
{
	out->monotonic_ns = (uint64_t)json_get_int(meta, "monotonic_ns");
	out->boottime_ns = (uint64_t)json_get_int(meta, "boottime_ns");
	out->realtime_ns = (uint64_t)json_get_int(meta, "realtime_ns");
	out->raw_ns = (uint64_t)json_get_int(meta, "raw_ns");
}

int trace_clocks(const struct trace *t, struct trace_clocks *out)
{
	const json_t *first = NULL, *last = NULL;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < trace_meta_count(t); i++) {
		const json_t *meta = trace_meta_get(t, i);

		if (!json_is_type(meta, "clocks"))
			continue;
		last = meta;
		if (!first)
			first = meta;
	}
	if (!first)
		return -ENOENT;
	clock_read(first, &out->begin);
	clock_read(last, &out->end);
	out->has_end = last != first && out->end.monotonic_ns > out->begin.monotonic_ns;
	if (!out->has_end) {
		out->end = out->begin;
		return 0;
	}
	out->realtime_moved_ns = clock_moved_ns(out->begin.realtime_ns, out->end.realtime_ns,
						out->begin.monotonic_ns, out->end.monotonic_ns);
	out->suspended_ns = clock_moved_ns(out->begin.boottime_ns, out->end.boottime_ns,
					   out->begin.monotonic_ns, out->end.monotonic_ns);
	if (out->suspended_ns < SUSPEND_MIN_NS)
		out->suspended_ns = 0;
	out->slewed_ns = clock_moved_ns(out->begin.monotonic_ns, out->end.monotonic_ns,
					out->begin.raw_ns, out->end.raw_ns);
	return 0;
}

int64_t trace_realtime(const struct trace *t, uint64_t ts_ns)
{
	struct trace_clocks clocks;

	if (trace_clocks(t, &clocks))
		return 0;
	return (int64_t)(clocks.begin.realtime_ns - clocks.begin.monotonic_ns + ts_ns);
}

/* ---- the newest part of a longer recording ---- */

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
	return xasprintf(
		"the newest part of a recording that began %s%s before this one's end; "
		"the last %s were kept%s",
		when, human_ns(ago, sizeof(ago), end_ns > since_ns ? end_ns - since_ns : 0), limit,
		json_get_u64(kept, "forgotten") ? "; some communicators made before are unknown" :
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
