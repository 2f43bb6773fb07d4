/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Adds up a trace.
 */
#include "trace/trace_totals.h"

#include <string.h>

#include "trace/trace_read.h"
#include "trace/trace_text.h"

static void count_record(struct trace_totals *s, const struct pov_hdr *rec)
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
		count_record(&s, rec);
	trace_merge_close(m);
	if (!err)
		*out = s;
	return err;
}

static json_int_t int_of(const json_t *obj, const char *key)
{
	return json_integer_value(json_object_get(obj, key));
}

/* The end object gives the class's number. Borrowed from drop, or static. */
static const char *class_name(const json_t *drop)
{
	const json_t *class = json_object_get(drop, "class");
	json_int_t i = json_integer_value(class);

	if (json_is_string(class))
		return json_string_value(class);
	return i >= 0 && i < POV_CLASS_CNT ? text_class_names[i] : "unknown";
}

json_t *trace_drops(const struct trace *t, const struct trace_totals *s)
{
	json_t *drops = json_array(), *drop;
	const json_t *end = trace_meta_find(t, "end");
	size_t i;

	if (end) {
		json_array_foreach(json_object_get(end, "drops"), i, drop) json_array_append_new(
			drops, json_pack("{s:I,s:s,s:I}", "ring", int_of(drop, "ring"), "class",
					 class_name(drop), "cnt", int_of(drop, "cnt")));
		return drops;
	}
	for (i = 0; i < POV_CLASS_CNT; i++)
		if (s->lost[i])
			json_array_append_new(drops, json_pack("{s:i,s:s,s:I}", "ring", -1, "class",
							       text_class_names[i], "cnt",
							       (json_int_t)s->lost[i]));
	return drops;
}

void trace_times(const struct trace *t, uint64_t *start_ns, uint64_t *end_ns)
{
	const json_t *end = trace_meta_find(t, "end");
	const json_t *recording = trace_meta_find(t, "recording");
	const struct trace_summary *sum = trace_get_summary(t);

	*start_ns = recording ? (uint64_t)int_of(recording, "start_ns") : sum->first_ns;
	*end_ns = end ? (uint64_t)int_of(end, "ts_ns") : sum->last_ns;
	if (*end_ns < *start_ns)
		*end_ns = *start_ns;
}

int64_t trace_realtime(const struct trace *t, uint64_t ts_ns)
{
	const json_t *clocks = trace_meta_find(t, "clocks");
	uint64_t real, mono;

	if (!clocks)
		return 0;
	real = (uint64_t)int_of(clocks, "realtime_ns");
	mono = (uint64_t)int_of(clocks, "monotonic_ns");
	return (int64_t)(real - mono + ts_ns);
}
