/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Prints the report as JSON, except for the members that sections write. members.tsv describes all
 * members. New ones may appear under the same schema_version. Existing ones must keep their
 * meaning.
 */
#include <math.h>
#include <stdlib.h>

#include "lib/log.h"
#include "lib/table.h"
#include "report/section.h"
#include "trace/trace_read.h"
#include "version.h"

#define SCHEMA_VERSION 1

uint64_t json_since_start(const struct report *r, uint64_t ts_ns)
{
	uint64_t start_ns = model_get_info(r->model)->start_ns;

	return ts_ns > start_ns ? ts_ns - start_ns : 0;
}

/* Copies a JSON value from the trace. */
static void value_print(struct json_out *j, const json_t *v)
{
	const char *key;
	json_t *member;

	switch (v ? json_typeof(v) : JSON_NULL) {
	case JSON_OBJECT:
		json_out_object_begin(j);
		json_object_foreach((json_t *)v, key, member)
		{
			json_out_key(j, key);
			value_print(j, member);
		}
		json_out_object_end(j);
		break;
	case JSON_ARRAY:
		json_out_array_begin(j);
		for (size_t i = 0; i < json_array_size(v); i++)
			value_print(j, json_array_get(v, i));
		json_out_array_end(j);
		break;
	case JSON_STRING:
		json_out_string_n(j, json_string_value(v), json_string_length(v));
		break;
	case JSON_INTEGER:
		json_out_int(j, json_integer_value(v));
		break;
	case JSON_REAL:
		json_out_double(j, json_real_value(v));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		json_out_bool(j, json_is_true(v));
		break;
	case JSON_NULL:
		json_out_null(j);
		break;
	}
}

/* Checks the depth, because values from a trace may nest deeper than the writer allows. */
static bool shallow(const json_t *v, int depth)
{
	const char *key;
	json_t *member;

	if (!depth)
		return !json_is_object(v) && !json_is_array(v);
	json_object_foreach((json_t *)v, key, member)
	{
		if (!shallow(member, depth - 1))
			return false;
	}
	return !table_any(json_array_size(v), i, !shallow(json_array_get(v, i), depth - 1));
}

void json_key_value(struct json_out *j, const char *key, const json_t *v)
{
	json_out_key(j, key);
	value_print(j, v && shallow(v, 4) ? v : NULL);
}

void json_incomplete(struct json_out *j, uint32_t lost)
{
	json_out_key_array(j, "incomplete");
	for (int bit = 0; bit < LOSS_BITS; bit++) {
		if (lost & LOSS_OF_ANY & 1u << bit)
			json_out_string(j, loss_names[bit]);
	}
	json_out_array_end(j);
}

void json_rank(struct json_out *j, const struct model_process *p)
{
	bool known = p && p->is_rank && p->rank >= 0;

	json_out_known_uint(j, "rank", known, known ? (uint64_t)p->rank : 0);
}

/* ---- pieces ---- */

static void distortion_print(struct json_out *j, const struct report *r)
{
	const struct model_process *p = r->distorted;
	bool matters = distortion_matters(&r->distortion);
	char *text = matters ? distortion_text(&r->distortion) : NULL;

	json_out_key_object(j, "distortion");
	json_out_known_bool(j, "distorted", r->coverage.calibrated, matters);
	json_out_known_uint(j, "pid", p, p ? p->pid : 0);
	json_out_known_int(j, "job", p, p ? p->job_idx : 0);
	json_out_known_int(j, "rank", p && p->rank >= 0, p ? p->rank : 0);
	json_out_key_double(j, "share", p ? r->distortion.pct / 100 : NAN); /* NaN: null */
	json_out_key_double(j, "run_share", p ? r->distortion.run_pct / 100 : NAN);
	json_out_key_uint(j, "ranks_above", r->distortion.above);
	json_out_key_array(j, "functions");
	for (unsigned int i = 0; i < distortion_func_cnt(&r->distortion); i++)
		json_out_string(j, r->distortion.func[i].name);
	json_out_array_end(j);
	json_out_key_string(j, "text", text);
	json_out_object_end(j);
	free(text);
}

/* Writes how a host's clock offset was found. */
static void clock_print(struct json_out *j, const struct model *m, const struct model_host *h)
{
	bool known = h->clock_by == TRACE_CLOCK_MESSAGES;

	json_out_key_string(j, "clock_by",
			    known			     ? "messages" :
			    h->clock_by == TRACE_CLOCK_GIVEN ? "offset" :
							       "time_of_day");
	json_out_key_string(j, "clock_of", model_host_get(m, h->clock_host)->label);
	json_out_key_uint(j, "clock_messages", h->clock_messages);
	json_out_known_uint(j, "clock_uncertainty_ns", known, h->clock_uncertainty_ns);
	json_out_key_uint(j, "clock_violated_ns", h->clock_violated_ns);
}

/* Writes the recordings of a joined trace. */
static void hosts_print(struct json_out *j, const struct report *r)
{
	const struct model_info *info = model_get_info(r->model);

	if (info->nhosts < 2)
		return;
	json_out_key_array(j, "hosts");
	for (uint32_t i = 0; i < info->nhosts; i++) {
		const struct model_host *h = model_host_get(r->model, i);

		json_out_object_begin(j);
		json_out_key_string(j, "trace", r->source[i].path);
		json_out_key_string(j, "host", h->label);
		json_out_key_string(j, "kernel", h->kernel);
		json_out_key_string(j, "machine", h->machine);
		json_out_key_uint(j, "first_cpu", h->cpu_base);
		json_out_key_uint(j, "cpus", h->nr_cpus);
		json_out_key_int(j, "clock_offset_ns", h->offset_ns);
		json_out_key_int(j, "clock_drift_ppb", h->drift_ppb);
		clock_print(j, r->model, h);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void recording_print(struct json_out *j, const struct report *r)
{
	const struct model_info *info = model_get_info(r->model);
	const struct model_host *host = model_host_get(r->model, 0);
	const struct trace_summary *sum = trace_get_summary(r->trace);
	const json_t *recording = trace_meta_find(r->trace, "recording");

	json_out_key_object(j, "recording");
	json_out_key_uint(j, "start_ns", info->start_ns);
	json_out_key_uint(j, "end_ns", info->end_ns);
	json_out_key_uint(j, "wall_ns", info->end_ns - info->start_ns);
	json_out_known_int(j, "realtime_start_ns", info->realtime_offset_ns,
			   (int64_t)(info->start_ns + (uint64_t)info->realtime_offset_ns));
	json_out_key_bool(j, "complete", info->complete);
	json_out_key_string(j, "end_reason", r->coverage.has_end ? r->coverage.end_reason : NULL);
	json_key_value(j, "kept", json_object_get(recording, "kept"));
	json_key_value(j, "trigger", json_object_get(trace_meta_find(r->trace, "end"), "trigger"));
	json_out_key_uint(j, "damaged_blocks", sum->bad_blocks);
	json_out_key_uint(j, "cut_off_bytes", sum->lost_tail_bytes);
	json_out_key_string(j, "host", host->name);
	json_out_key_string(j, "kernel", host->kernel);
	json_out_key_string(j, "machine", host->machine);
	json_out_key_uint(j, "cpus", info->nr_cpus);
	json_key_value(j, "command", json_object_get(recording, "argv"));
	json_out_key_string(j, "sched",
			    info->sched_all	 ? "all" :
			    info->sched_recorded ? "ranks" :
						   "off");
	json_out_object_end(j);
}

/* ---- processes ---- */

static void threads_print(struct json_out *j, const struct report *r, const struct model_process *p)
{
	json_out_key_array(j, "thread_list");
	for (uint32_t i = 0; i < model_thread_count(r->model); i++) {
		const struct model_thread *t = model_thread_get(r->model, i);

		if (t->proc != p)
			continue;
		json_out_object_begin(j);
		json_out_key_uint(j, "tid", t->tid);
		json_out_key_string(j, "name", t->comm);
		json_out_key_uint(j, "start_ns", json_since_start(r, t->start_ns));
		json_incomplete(j, r->lost[p->idx]);
		figures_json(j, time_figures, &r->time.thread[i], r->facts);
		figures_json(j, switches_object, &r->time.thread[i].switches, r->facts);
		json_app_thread(j, r, t);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void process_print(struct json_out *j, const struct report *r, uint32_t idx, bool *one)
{
	const struct model_process *p = model_process_get(r->model, idx);

	json_out_object_begin(j);
	json_rank(j, p);
	json_out_known_int(j, "job", p->is_rank, p->job_idx);
	json_out_key_string(j, "process", p->name);
	json_out_key_string(j, "cmdline", p->cmdline);
	if (model_get_info(r->model)->nhosts > 1)
		json_out_key_string(j, "host", model_host_get(r->model, p->host_idx)->label);
	json_out_key_uint(j, "pid", p->host_pid);
	json_out_key_uint(j, "ppid", trace_host_id(p->ppid));
	if (!p->is_rank) {
		const struct model_process *above = model_rank_above(r->model, p);

		json_out_known_uint(j, "helper_of", above != NULL, above ? above->host_pid : 0);
	}
	json_out_key_uint(j, "start_ns", json_since_start(r, p->start_ns));
	json_out_key_bool(j, "exited", p->exited);
	json_out_known_int(j, "exit_status", p->exited, p->exit_code);
	json_out_known_uint(j, "written_bytes", p->written_known, p->written_bytes);
	json_out_known_uint(j, "write_calls", p->written_known, p->write_calls);
	json_key_value(j, "stdout", json_object_get(p->meta, "stdout"));
	json_incomplete(j, r->lost[idx]);
	json_out_key_uint(j, "threads", r->time.process[idx].threads);
	figures_json(j, time_figures, &r->time.process[idx], r->facts);
	figures_json(j, switches_object, &r->time.process[idx].switches, r->facts);
	json_app_process(j, r, idx);
	json_process_cores(j, r, idx);
	json_holders(j, r, idx);
	json_waits(j, r, idx);
	one[idx] = true;
	json_functions(j, r, one, r->lost[idx]);
	json_regions(j, r, one, r->lost[idx]);
	json_call_sites(j, r, one, r->lost[idx]);
	one[idx] = false;
	json_messages(j, messages_of(&r->messages, idx), r->lost[idx]);
	json_peers(j, messages_peers(&r->messages, idx), r->lost[idx]);
	json_matching(j, matches_of(&r->findings.late.matches, idx), r->lost[idx]);
	json_sent_to(j, r, idx);
	json_collectives(j, r, idx);
	json_epochs(j, r, idx);
	figures_json(j, overhead_object, &r->coverage.process[idx], r->facts);
	if (r->opt->threads)
		threads_print(j, r, p);
	json_out_object_end(j);
}

static void processes_print(struct json_out *j, const struct report *r)
{
	bool *one = xcalloc(r->nprocesses + 1, sizeof(*one));

	json_out_key_array(j, "ranks");
	for (uint32_t i = 0; i < r->nrows; i++) {
		if (model_process_get(r->model, r->row[i])->is_rank)
			process_print(j, r, r->row[i], one);
	}
	json_out_array_end(j);
	json_out_key_array(j, "other_processes");
	for (uint32_t i = r->nranks; i < r->nprocesses; i++) {
		const struct model_process *p = model_process_get(r->model, i);

		if (p->is_target && p->pid)
			process_print(j, r, i, one);
	}
	json_out_array_end(j);
	free(one);
}

static void jobs_print(struct json_out *j, const struct report *r)
{
	int32_t job = 0;

	json_out_key_array(j, "jobs");
	for (uint32_t i = 0; i < r->nranks; i++) {
		const struct model_process *p = model_process_get(r->model, i);

		if (p->job_idx != job)
			continue;
		json_out_string(j, p->job);
		job++;
	}
	json_out_array_end(j);
}

int report_json(const struct report *r, FILE *out)
{
	struct json_out *j = json_out_new(out, JSON_OUT_PRETTY);

	json_out_object_begin(j);
	json_out_key_int(j, "schema_version", SCHEMA_VERSION);
	json_out_key_string(j, "povtrace", POV_VERSION);
	json_out_key_string(j, "trace", r->source->temporary ? NULL : r->source->path);
	hosts_print(j, r);
	distortion_print(j, r);
	recording_print(j, r);
	jobs_print(j, r);
	json_ends(j, r);
	json_failed(j, r);
	json_launchers(j, r);
	json_hang(j, r);
	json_account(j, r);
	json_efficiency(j, r);
	json_parts(j, r);
	json_reasons(j, r);
	json_findings(j, r);
	json_causes(j, r);
	processes_print(j, r);
	json_functions(j, r, r->chosen, r->lost_shown);
	json_regions(j, r, r->chosen, r->lost_shown);
	json_call_sites(j, r, r->chosen, r->lost_shown);
	json_places(j, r);
	json_messages(j, &r->sum.messages, r->lost_shown);
	json_peers(j, &r->sum.peers, r->lost_shown);
	json_matching(j, &r->sum.matching, r->lost_shown);
	json_traffic(j, r);
	json_overlap(j, r);
	json_cores(j, r);
	json_program_section(j, r);
	json_coverage(j, r);
	json_out_object_end(j);
	return json_out_finish(j);
}
