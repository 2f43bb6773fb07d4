/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The report as JSON. Its members are described in kmod-docs/REPORT.md, which changes with this file;
 * members may be added under the same schema_version, never change their meaning.
 */
#include <stdlib.h>

#include "base/log.h"
#include "report/json_priv.h"
#include "trace/trace_read.h"
#include "version.h"

#define SCHEMA_VERSION 1

uint64_t json_since_start(const struct report *r, uint64_t ts_ns)
{
	uint64_t start_ns = model_get_info(r->model)->start_ns;

	return ts_ns > start_ns ? ts_ns - start_ns : 0;
}

/* A JSON value of the trace's own, handed through. */
static void value_print(struct json_out *j, const json_t *v)
{
	const char *key;
	json_t *member;
	size_t i;

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
		for (i = 0; i < json_array_size(v); i++)
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

/* Depth is bounded by hand: what comes from a trace may nest deeper than the writer takes. */
static bool shallow(const json_t *v, int depth)
{
	const char *key;
	json_t *member;
	size_t i;

	if (!depth)
		return !json_is_object(v) && !json_is_array(v);
	json_object_foreach((json_t *)v, key, member)
	{
		if (!shallow(member, depth - 1))
			return false;
	}
	for (i = 0; i < json_array_size(v); i++) {
		if (!shallow(json_array_get(v, i), depth - 1))
			return false;
	}
	return true;
}

void json_key_value(struct json_out *j, const char *key, const json_t *v)
{
	json_out_key(j, key);
	value_print(j, v && shallow(v, 4) ? v : NULL);
}

void json_incomplete(struct json_out *j, uint32_t lost)
{
	int bit;

	json_out_key_array(j, "incomplete");
	for (bit = 0; bit < LOSS_BITS; bit++) {
		if (lost & LOSS_OF_ANY & 1u << bit)
			json_out_string(j, loss_names[bit]);
	}
	json_out_array_end(j);
}

/* ---- pieces ---- */

static void distortion_print(struct json_out *j, const struct report *r)
{
	const struct model_process *p = r->distorted;
	bool matters = distortion_matters(&r->distortion);
	char *text = matters ? distortion_text(&r->distortion) : NULL;
	unsigned int i;

	json_out_key_object(j, "distortion");
	json_out_key(j, "distorted");
	if (r->coverage.calibrated)
		json_out_bool(j, matters);
	else
		json_out_null(j);
	json_known_ns(j, "pid", p, p ? p->pid : 0);
	json_out_key(j, "job");
	if (p)
		json_out_int(j, p->job_idx);
	else
		json_out_null(j);
	json_known_ns(j, "rank", p && p->rank >= 0, p ? (uint64_t)p->rank : 0);
	json_out_key(j, "share");
	if (p)
		json_out_double(j, r->distortion.pct / 100);
	else
		json_out_null(j);
	json_out_key_uint(j, "ranks_above", r->distortion.above);
	json_out_key_array(j, "functions");
	for (i = 0; i < distortion_func_cnt(&r->distortion); i++)
		json_out_string(j, r->distortion.func[i].name);
	json_out_array_end(j);
	json_out_key_string(j, "text", text);
	json_out_object_end(j);
	free(text);
}

/* Of a joined trace: its recordings. */
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
		json_out_key(j, "clock_offset_ns");
		json_out_int(j, h->offset_ns);
		json_out_key(j, "clock_drift_ppb");
		json_out_int(j, h->drift_ppb);
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
	json_out_key(j, "realtime_start_ns");
	if (info->realtime_offset_ns)
		json_out_int(j, (int64_t)(info->start_ns + (uint64_t)info->realtime_offset_ns));
	else
		json_out_null(j);
	json_out_key_bool(j, "complete", info->complete);
	json_out_key_string(j, "end_reason", r->coverage.has_end ? r->coverage.end_reason : NULL);
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

void json_known_ns(struct json_out *j, const char *key, bool known, uint64_t ns)
{
	json_out_key(j, key);
	if (known)
		json_out_uint(j, ns);
	else
		json_out_null(j);
}

static void states_print(struct json_out *j, const struct report *r, const struct state_times *t)
{
	bool known = model_get_info(r->model)->sched_recorded;

	json_known_ns(j, "running_ns", known, t->ns[THREAD_RUNNING]);
	json_known_ns(j, "runnable_ns", known, t->ns[THREAD_RUNNABLE]);
	json_known_ns(j, "blocked_ns", known, t->ns[THREAD_BLOCKED]);
	json_out_key_uint(j, "unknown_ns", t->ns[THREAD_UNKNOWN]);
}

static void time_print(struct json_out *j, const struct report *r, const struct time_row *t)
{
	json_out_key_uint(j, "wall_ns", t->wall_ns);
	json_out_key_uint(j, "thread_ns", t->thread_ns);
	states_print(j, r, &t->times);
	json_out_key_uint(j, "mpi_ns", t->call_ns + t->spin_ns);
	json_known_ns(j, "polling_ns", model_get_info(r->model)->sched_recorded, t->polling_ns);
	json_out_key_object(j, "calls");
	json_out_key_uint(j, "outermost", t->calls);
	json_out_key_uint(j, "open", t->open_calls);
	json_out_key_uint(j, "unwound", t->unwound_calls);
	json_out_key_uint(j, "nested", t->nested_calls);
	json_out_key_uint(j, "empty_polls", t->polls);
	json_out_key_uint(j, "spins", t->spins);
	json_out_key_uint(j, "ns", t->call_ns);
	states_print(j, r, &t->call_split);
	json_out_key_uint(j, "empty_polls_ns", t->spin_ns);
	json_out_key_object(j, "empty_polls_split");
	json_out_key_uint(j, "polls", t->poll.polls);
	json_out_key_uint(j, "runs", t->poll.runs);
	json_out_key_uint(j, "span_ns", t->poll.span_ns);
	json_out_key_uint(j, "inside_ns", t->poll.inside_ns);
	json_known_ns(j, "probes_ns", r->time.poll_ns > 0, t->poll.probes_ns);
	json_known_ns(j, "between_ns", r->time.poll_ns > 0, t->poll.between_ns);
	json_out_object_end(j);
	json_out_object_end(j);
}

static void switches_print(struct json_out *j, const struct report *r, const struct switch_row *s)
{
	if (!model_get_info(r->model)->sched_recorded) {
		json_out_key(j, "switches");
		json_out_null(j);
		return;
	}
	json_out_key_object(j, "switches");
	json_out_key_uint(j, "voluntary", s->voluntary);
	json_out_key_uint(j, "involuntary", s->involuntary);
	json_out_key_uint(j, "migrations", s->migrations);
	json_out_key_uint(j, "wakeups", s->wakeups);
	json_out_object_end(j);
}

static void quantile(struct json_out *j, const char *key, const struct histogram *h, double pct)
{
	json_out_key(j, key);
	if (h->cnt)
		json_out_uint(j, histogram_quantile(h, pct));
	else
		json_out_null(j);
}

static void function_print(struct json_out *j, const struct report *r, const struct function_row *f,
			   uint32_t lost)
{
	double mean_ns;

	json_out_object_begin(j);
	json_out_key_string(j, "name", f->func->name);
	json_out_key_string(j, "group", f->func->group);
	json_out_key_string(j, "layer", f->func->layer_name);
	json_incomplete(j, function_row_lost(f, lost));
	json_out_key_uint(j, "calls", f->calls);
	json_out_key_uint(j, "empty_polls", f->polls);
	json_out_key_uint(j, "open", f->open);
	json_out_key_uint(j, "unwound", f->unwound);
	json_out_key_uint(j, "errors", f->errors);
	json_out_key_uint(j, "total_ns", f->total_ns);
	json_out_key_uint(j, "unfinished_ns", f->unfinished_ns);
	json_out_key_object(j, "split");
	states_print(j, r, &f->split);
	json_out_object_end(j);
	json_out_key_uint(j, "timed", f->durations.cnt);
	quantile(j, "min_ns", &f->durations, 0);
	json_out_key(j, "mean_ns");
	if (function_row_mean(f, &mean_ns))
		json_out_double(j, mean_ns);
	else
		json_out_null(j);
	quantile(j, "p50_ns", &f->durations, 50);
	quantile(j, "p90_ns", &f->durations, 90);
	quantile(j, "p99_ns", &f->durations, 99);
	quantile(j, "max_ns", &f->durations, 100);
	json_out_key_uint(j, "sent_bytes", f->send_bytes);
	json_out_key_uint(j, "received_bytes", f->recv_bytes);
	json_out_key_uint(j, "sends_of_unknown_size", f->unknown_sends);
	json_out_key_uint(j, "receives_of_unknown_size", f->unknown_recvs);
	json_out_key_uint(j, "nested_calls", f->nested_calls);
	json_out_key_uint(j, "nested_ns", f->nested_ns);
	json_out_object_end(j);
}

static void functions_print(struct json_out *j, const struct report *r, const bool *wanted,
			    uint32_t lost)
{
	uint32_t n, i;
	struct function_row **row = functions_sum(&r->functions, wanted, r->nprocesses, &n);

	json_out_key_array(j, "functions");
	for (i = 0; i < n; i++)
		function_print(j, r, row[i], lost);
	json_out_array_end(j);
	functions_sum_free(row, n);
}

static void messages_print(struct json_out *j, const struct message_row *m, uint32_t lost)
{
	int class, b;

	json_out_key_array(j, "message_sizes");
	for (class = 0; class < MESSAGE_CLASS_CNT; class ++) {
		for (b = 0; b < MESSAGE_BUCKETS; b++) {
			if (!m->cnt[class][b])
				continue;
			json_out_object_begin(j);
			json_out_key_string(j, "class", message_class_names[class]);
			json_out_key_uint(j, "from_bytes", b ? UINT64_C(1) << (b - 1) : 0);
			json_out_key_uint(j, "to_bytes", b ? (UINT64_C(1) << (b - 1)) * 2 - 1 : 0);
			json_out_key_uint(j, "count", m->cnt[class][b]);
			json_out_key_uint(j, "bytes", m->bytes[class][b]);
			json_incomplete(j, lost & LOSS_OF_BYTES);
			json_out_object_end(j);
		}
		if (!m->unknown[class])
			continue;
		json_out_object_begin(j);
		json_out_key_string(j, "class", message_class_names[class]);
		json_out_key(j, "from_bytes");
		json_out_null(j);
		json_out_key(j, "to_bytes");
		json_out_null(j);
		json_out_key_uint(j, "count", m->unknown[class]);
		json_out_key(j, "bytes");
		json_out_null(j);
		json_incomplete(j, lost & LOSS_OF_BYTES);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void peers_print(struct json_out *j, const struct peers_row *row, uint32_t lost)
{
	uint64_t known = row->messages;

	for (int why = PEER_KNOWN + 1; why < PEER_UNKNOWN_CNT; why++)
		known -= row->unknown[why];
	json_out_key_object(j, "peers");
	json_out_key_uint(j, "messages", row->messages);
	json_out_key_uint(j, "known", known);
	json_out_key_object(j, "unknown");
	for (int why = PEER_KNOWN + 1; why < PEER_UNKNOWN_CNT; why++)
		json_out_key_uint(j, peer_unknown_key[why], row->unknown[why]);
	json_out_object_end(j);
	json_incomplete(j, lost & LOSS_OF_CALLS);
	json_out_object_end(j);
}

/* ---- processes ---- */

static void process_cores_print(struct json_out *j, const struct report *r, uint32_t idx)
{
	uint32_t cpu;

	json_out_key_array(j, "cores");
	for (cpu = 0; cpu < r->cores.ncore; cpu++) {
		if (!cores_share_ns(&r->cores, idx, cpu))
			continue;
		json_out_object_begin(j);
		json_out_key_uint(j, "cpu", cpu);
		json_out_key_uint(j, "running_ns", cores_share_ns(&r->cores, idx, cpu));
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void overhead_print(struct json_out *j, const struct report *r, uint32_t idx)
{
	const struct coverage_hits *h = &r->coverage.process[idx];

	json_out_key_object(j, "overhead");
	json_out_key_uint(j, "call_hits", h->calls);
	json_out_key_uint(j, "poll_hits", h->polls);
	json_out_key_uint(j, "stepped_hits", h->stepped);
	json_out_key_uint(j, "switch_hits", h->switches);
	json_known_ns(j, "cost_ns", r->coverage.calibrated, h->cost_ns);
	json_out_object_end(j);
}

static void threads_print(struct json_out *j, const struct report *r, const struct model_process *p)
{
	uint32_t i;

	json_out_key_array(j, "thread_list");
	for (i = 0; i < model_thread_count(r->model); i++) {
		const struct model_thread *t = model_thread_get(r->model, i);

		if (t->proc != p)
			continue;
		json_out_object_begin(j);
		json_out_key_uint(j, "tid", t->tid);
		json_out_key_string(j, "name", t->comm);
		json_out_key_uint(j, "start_ns", json_since_start(r, t->start_ns));
		json_incomplete(j, r->lost[p->sort_order]);
		time_print(j, r, &r->time.thread[i]);
		switches_print(j, r, &r->switches.thread[i]);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void process_print(struct json_out *j, const struct report *r, uint32_t idx, bool *one)
{
	const struct model_process *p = model_process_get(r->model, idx);
	struct peers_row peers = peers_of(&r->peers, idx);
	static const struct message_row none;

	json_out_object_begin(j);
	json_out_key(j, "rank");
	if (p->is_rank && p->rank >= 0)
		json_out_int(j, p->rank);
	else
		json_out_null(j);
	json_out_key(j, "job");
	if (p->is_rank)
		json_out_int(j, p->job_idx);
	else
		json_out_null(j);
	json_out_key_string(j, "process", p->name);
	json_out_key_string(j, "cmdline", p->cmdline);
	if (model_get_info(r->model)->nhosts > 1)
		json_out_key_string(j, "host", model_host_get(r->model, p->host_idx)->label);
	json_out_key_uint(j, "pid", p->host_pid);
	json_out_key_uint(j, "ppid", trace_host_id(p->ppid));
	json_out_key_uint(j, "start_ns", json_since_start(r, p->start_ns));
	json_out_key_bool(j, "exited", p->exited);
	json_out_key(j, "exit_status");
	if (p->exited)
		json_out_int(j, p->exit_code);
	else
		json_out_null(j);
	json_incomplete(j, r->lost[idx]);
	json_out_key_uint(j, "threads", r->time.process[idx].threads);
	time_print(j, r, &r->time.process[idx]);
	switches_print(j, r, &r->switches.process[idx]);
	process_cores_print(j, r, idx);
	one[idx] = true;
	functions_print(j, r, one, r->lost[idx]);
	one[idx] = false;
	messages_print(j,
		       idx < r->messages.nprocess && r->messages.process[idx] ?
			       r->messages.process[idx] :
			       &none,
		       r->lost[idx]);
	peers_print(j, &peers, r->lost[idx]);
	overhead_print(j, r, idx);
	if (r->opt->threads)
		threads_print(j, r, p);
	json_out_object_end(j);
}

static void processes_print(struct json_out *j, const struct report *r)
{
	bool *one = xcalloc(r->nprocesses + 1, sizeof(*one));
	uint32_t i;

	json_out_key_array(j, "ranks");
	for (i = 0; i < r->nrows; i++) {
		if (model_process_get(r->model, r->row[i])->is_rank)
			process_print(j, r, r->row[i], one);
	}
	json_out_array_end(j);
	json_out_key_array(j, "other_processes");
	for (i = r->nranks; i < r->nprocesses; i++) {
		const struct model_process *p = model_process_get(r->model, i);

		if (p->is_target && p->pid)
			process_print(j, r, i, one);
	}
	json_out_array_end(j);
	free(one);
}

static void jobs_print(struct json_out *j, const struct report *r)
{
	uint32_t i;
	int32_t job = 0;

	json_out_key_array(j, "jobs");
	for (i = 0; i < r->nranks; i++) {
		const struct model_process *p = model_process_get(r->model, i);

		if (p->job_idx != job)
			continue;
		json_out_string(j, p->job);
		job++;
	}
	json_out_array_end(j);
}

static void cores_print(struct json_out *j, const struct report *r)
{
	uint32_t cpu;

	json_out_key_array(j, "cores");
	for (cpu = 0; cpu < r->cores.ncore && model_get_info(r->model)->sched_recorded; cpu++) {
		const struct core_row *c = &r->cores.core[cpu];

		if (!c->seen)
			continue;
		json_out_object_begin(j);
		json_out_key_uint(j, "cpu", cpu);
		json_out_key_uint(j, "wall_ns", r->cores.wall_ns);
		json_out_key_uint(j, "ranks_ns", c->rank_ns);
		json_out_key_uint(j, "other_targets_ns", c->target_ns);
		json_out_key_uint(j, "other_tasks_ns", c->other_ns);
		json_out_key_uint(j, "idle_ns", c->idle_ns);
		json_out_key_uint(j, "unknown_ns", c->unknown_ns);
		json_out_key_uint(j, "switches", c->switches);
		json_incomplete(j, losses_of_core(&r->losses, cpu));
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

int report_json(const struct report *r, FILE *out)
{
	struct json_out *j = json_out_new(out, JSON_OUT_PRETTY);
	struct peers_row peers = {0}, one;
	struct message_row all = {0};
	uint32_t i;

	for (i = 0; i < r->nrows; i++) {
		one = peers_of(&r->peers, r->row[i]);
		peers_row_add(&peers, &one);
		if (r->row[i] < r->messages.nprocess && r->messages.process[r->row[i]])
			message_row_add(&all, r->messages.process[r->row[i]]);
	}
	json_out_object_begin(j);
	json_out_key_int(j, "schema_version", SCHEMA_VERSION);
	json_out_key_string(j, "povtrace", POV_VERSION);
	json_out_key_string(j, "trace", r->source->path);
	hosts_print(j, r);
	distortion_print(j, r);
	recording_print(j, r);
	jobs_print(j, r);
	processes_print(j, r);
	functions_print(j, r, r->chosen, r->lost_shown);
	messages_print(j, &all, r->lost_shown);
	peers_print(j, &peers, r->lost_shown);
	cores_print(j, r);
	json_coverage(j, r);
	json_out_object_end(j);
	return json_out_finish(j);
}
