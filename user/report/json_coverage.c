/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The JSON report's account of what was seen, what was missed and what it cost.
 */
#include "report/json_priv.h"

static void libraries_print(struct json_out *j, const struct coverage *v)
{
	uint32_t i;

	json_out_key_array(j, "libraries");
	for (i = 0; i < v->nlibrary; i++) {
		const struct coverage_library *l = &v->library[i];

		json_out_object_begin(j);
		json_out_key_string(j, "path", l->path);
		json_out_key_string(j, "build_id", l->build_id);
		json_out_key_string(j, "flavour", l->flavour);
		json_out_key_string(j, "version", l->version);
		json_out_key_string(j, "link", l->link);
		json_out_key_uint(j, "attached", l->attached);
		json_out_key_uint(j, "sites_emulated", l->emulated);
		json_out_key_uint(j, "sites_single_stepped", l->stepped);
		json_key_value(j, "missing", l->missing_names);
		json_key_value(j, "failed", l->failed_names);
		json_out_key_string(j, "refused", l->refused);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void losses_print(struct json_out *j, const struct report *r)
{
	const struct coverage *v = &r->coverage;
	uint32_t i;

	json_out_key_object(j, "lost");
	for (i = 0; i < POV_CLASS_CNT; i++)
		json_out_key_uint(j, coverage_class_names[i],
				  v->drops[i] > v->loss[i].cnt ? v->drops[i] : v->loss[i].cnt);
	json_out_object_end(j);
	json_out_key_array(j, "lost_stretches");
	for (i = 0; i < v->nlost; i++) {
		json_out_object_begin(j);
		json_out_key_string(j, "class", coverage_class_names[v->lost[i].class]);
		json_out_key_uint(j, "ring", v->lost[i].ring);
		json_out_key_uint(j, "from_ns", json_since_start(r, v->lost[i].since_ns));
		json_out_key_uint(j, "to_ns", json_since_start(r, v->lost[i].ts_ns));
		json_out_key_uint(j, "count", v->lost[i].cnt);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void late_print(struct json_out *j, const struct report *r)
{
	const struct coverage *v = &r->coverage;
	uint32_t i;

	json_out_key_array(j, "late");
	for (i = 0; i < v->nlate; i++) {
		json_out_object_begin(j);
		json_out_key_uint(j, "pid", trace_host_id(v->late[i].pid));
		json_out_key_string(j, "path", v->late[i].path);
		json_out_key_uint(j, "mapped_ns", json_since_start(r, v->late[i].ts_ns));
		json_out_key_uint(j, "late_ns", v->late[i].late_ns);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void doubts_print(struct json_out *j, const struct report *r)
{
	const struct model_stats *s = model_get_stats(r->model);

	json_out_key_uint(j, "open_calls", r->coverage.open_calls);
	json_out_key_uint(j, "unwound_calls", r->coverage.unwound_calls);
	json_out_key_uint(j, "sched_gaps", s->sched_gaps);
	json_out_key_uint(j, "sched_gaps_ns", s->sched_gap_ns);
	json_out_key_uint(j, "sched_gaps_unannounced", s->sched_gaps_late);
	json_out_key_uint(j, "unannounced_threads", s->unannounced_threads);
	json_out_key_uint(j, "contradictions", s->contradictions);
	json_out_key_uint(j, "bad_records", s->bad_records);
	json_out_key_uint(j, "unknown_records", s->unknown_records);
	json_out_key_uint(j, "unknown_functions", s->unknown_functions);
}

void json_coverage(struct json_out *j, const struct report *r)
{
	const struct coverage *v = &r->coverage;

	json_out_key_object(j, "coverage");
	libraries_print(j, v);
	losses_print(j, r);
	json_key_value(j, "misses", v->misses);
	late_print(j, r);
	json_key_value(j, "stats", v->stats);
	doubts_print(j, r);
	json_out_key(j, "probe_cost");
	if (v->calibrated) {
		json_out_object_begin(j);
		json_out_key_double(j, "call_ns", v->call_ns);
		json_out_key_double(j, "poll_ns", v->spin_ns);
		json_out_key_double(j, "stepped_ns", v->stepped_ns);
		json_out_object_end(j);
	} else {
		json_out_null(j);
	}
	json_known_ns(j, "own_cpu_ns", v->has_end, v->own_cpu_ns);
	json_known_ns(j, "own_cpu_start_ns", v->own_cpu_split, v->own_cpu_start_ns);
	json_known_ns(j, "own_cpu_recording_ns", v->own_cpu_split, coverage_own_cpu_steady(v));
	json_known_ns(j, "own_cpu_stop_ns", v->own_cpu_split, v->own_cpu_stop_ns);
	json_out_object_end(j);
}
