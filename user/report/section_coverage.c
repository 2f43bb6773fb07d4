/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows what was recorded, what could not be recorded, and the cost of recording. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "analysis/find.h"
#include "report/section.h"
#include "trace/trace_read.h"

#define NAMES_SHOWN 6
#define LATE_SHOWN 10

#define ROW struct coverage_hits
static const struct figure overhead_figures[] = {
	{FIGURE_COUNT, "call_hits", AT(calls)},
	{FIGURE_COUNT, "poll_hits", AT(polls)},
	{FIGURE_COUNT, "counted_hits", AT(counted)},
	{FIGURE_COUNT, "stepped_hits", AT(stepped)},
	{FIGURE_COUNT, "preloaded_hits", AT(preloaded)},
	{FIGURE_COUNT, "preloaded_counted_hits", AT(preloaded_counted)},
	{FIGURE_COUNT, "kernel_hits", AT(kernel)},
	{FIGURE_COUNT, "switch_hits", AT(switches)},
	{FIGURE_NS, "cost_ns", AT(cost_ns), .known = FACT_HIT_COST},
	{0},
};
#undef ROW

const struct figure overhead_object[] = {
	{FIGURE_TABLE, "overhead", .sub = overhead_figures},
	{0},
};

/* Counts of events that make figures doubtful. */
#define ROW struct coverage
static const struct figure call_doubts[] = {
	{FIGURE_COUNT, "open_calls", "open", AT(open_calls),
	 .one = "call had not returned at the end of the recording",
	 .many = "calls had not returned at the end of the recording"},
	{FIGURE_COUNT, "unwound_calls", "unwound", AT(unwound_calls),
	 .one = "call was left without returning (longjmp, exception, exit)",
	 .many = "calls were left without returning (longjmp, exception, exit)"},
	{0},
};
#undef ROW

#define ROW struct model_stats
static const struct figure record_doubts[] = {
	{FIGURE_COUNT, "sched_gaps", AT(sched_gaps)},
	{FIGURE_NS, "sched_gaps_ns", AT(sched_gap_ns)},
	{FIGURE_COUNT, "sched_gaps_unannounced", "gaps", AT(sched_gaps_late),
	 .one = "loss of scheduler records was found late: states before it may be wrong",
	 .many = "losses of scheduler records were found late: states before them may be "
		 "wrong"},
	{FIGURE_COUNT, "unannounced_threads", "unnamed", AT(unannounced_threads),
	 .one = "thread has no record of its start",
	 .many = "threads have no record of their start"},
	{FIGURE_COUNT, "contradictions", "conflicts", AT(contradictions),
	 .one = "record contradicts a thread's last known state, which counts as unknown",
	 .many = "records contradict threads' last known states, which count as unknown"},
	{FIGURE_COUNT, "bad_records", "left out", AT(bad_records), .one = "record is malformed",
	 .many = "records are malformed"},
	{FIGURE_COUNT, "unknown_records", "left out", AT(unknown_records),
	 .one = "record has a kind that is unknown to this version",
	 .many = "records have kinds that are unknown to this version"},
	{FIGURE_COUNT, "unknown_functions", "unknown", AT(unknown_functions),
	 .one = "call is of a function that has no name in the trace",
	 .many = "calls are of functions that have no name in the trace"},
	{0},
};
#undef ROW

/* ---- JSON ---- */

static void json_libraries(struct json_out *j, const struct coverage *v)
{
	json_out_key_array(j, "libraries");
	for (uint32_t i = 0; i < v->nlibrary; i++) {
		const struct coverage_library *l = &v->library[i];

		json_out_object_begin(j);
		json_out_key_string(j, "path", l->path);
		json_out_key_string(j, "build_id", l->build_id);
		json_out_key_string(j, "flavour", l->flavour);
		json_out_key_string(j, "version", l->version);
		json_out_key_uint(j, "preloaded", l->preloaded);
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

static void json_losses(struct json_out *j, const struct report *r)
{
	const struct coverage *v = &r->coverage;

	json_out_key_object(j, "lost");
	for (uint32_t i = 0; i < POV_CLASS_CNT; i++)
		json_out_key_uint(j, loss_names[i], v->lost_cnt[i]);
	json_out_object_end(j);
	json_out_key_array(j, "lost_stretches");
	for (uint32_t i = 0; i < v->nlost; i++) {
		json_out_object_begin(j);
		json_out_key_string(j, "class", loss_names[v->lost[i].class]);
		json_out_key_uint(j, "ring", v->lost[i].ring);
		json_out_key_uint(j, "from_ns", json_since_start(r, v->lost[i].since_ns));
		json_out_key_uint(j, "to_ns", json_since_start(r, v->lost[i].ts_ns));
		json_out_key_uint(j, "count", v->lost[i].cnt);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void json_late(struct json_out *j, const struct report *r)
{
	const struct coverage *v = &r->coverage;

	json_out_key_array(j, "late");
	for (uint32_t i = 0; i < v->nlate; i++) {
		json_out_object_begin(j);
		json_out_key_uint(j, "pid", trace_host_id(v->late[i].pid));
		json_out_key_string(j, "path", v->late[i].path);
		json_out_key_uint(j, "mapped_ns", json_since_start(r, v->late[i].ts_ns));
		json_out_key_uint(j, "late_ns", v->late[i].late_ns);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

/* Writes which functions record --max-overhead only counted, or not even that. */
static void json_limit(struct json_out *j, const struct report *r)
{
	const struct coverage *v = &r->coverage;

	json_out_key_object(j, "limit");
	json_out_key_double(j, "max_share", v->limit > 0 ? v->limit : NAN); /* NaN: null */
	json_out_key_bool(j, "preload_too", v->limit_all);
	json_out_key_array(j, "functions");
	for (uint32_t i = 0; i < v->nlimited; i++) {
		const struct coverage_limit *l = &v->limited[i];

		if (!l->func)
			continue;
		json_out_object_begin(j);
		json_out_key_string(j, "name", l->func->name);
		json_out_known_uint(j, "counted_since_ns", l->counted_since_ns,
				    json_since_start(r, l->counted_since_ns));
		json_out_known_uint(j, "detached_since_ns", l->detached_since_ns,
				    json_since_start(r, l->detached_since_ns));
		json_out_key_uint(j, "counted_calls", l->calls);
		json_out_key_double(j, "share", l->cost);
		json_out_known_uint(j, "pid", l->proc, l->proc ? l->proc->host_pid : 0);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	json_out_object_end(j);
}

void json_coverage(struct json_out *j, const struct report *r)
{
	const struct coverage *v = &r->coverage;

	json_out_key_object(j, "coverage");
	json_libraries(j, v);
	json_losses(j, r);
	json_limit(j, r);
	json_key_value(j, "misses", v->misses);
	json_late(j, r);
	json_key_value(j, "stats", v->stats);
	figures_json(j, call_doubts, v, r->facts);
	figures_json(j, record_doubts, model_get_stats(r->model), r->facts);
	json_out_key(j, "probe_cost");
	if (v->calibrated) {
		json_out_object_begin(j);
		json_out_key_double(j, "call_ns", v->call_ns);
		json_out_key_double(j, "poll_ns", v->spin_ns);
		json_out_key_double(j, "stepped_ns", v->stepped_ns);
		json_out_key_double(j, "counted_ns", v->counted_ns);
		json_out_key_double(j, "switch_ns", v->switch_ns);
		json_out_object_end(j);
	} else {
		json_out_null(j);
	}
	json_out_key(j, "preload");
	if (v->has_preload) {
		json_out_object_begin(j);
		json_out_key_double(j, "call_ns", v->preload_ns);
		json_out_key_double(j, "counted_ns", v->preload_counted_ns);
		json_out_key_uint(j, "wait_ns", v->preload_wait_ns);
		json_out_key_uint(j, "no_area", v->preload_no_area);
		json_out_key_uint(j, "damaged", v->preload_damaged);
		json_out_key_uint(j, "processes_by_probes", coverage_probed(v));
		json_out_key_uint(j, "missed", v->preload_missed);
		json_out_object_end(j);
	} else {
		json_out_null(j);
	}
	json_out_known_uint(j, "own_cpu_ns", v->has_end, v->own_cpu_ns);
	json_out_known_uint(j, "own_cpu_start_ns", v->own_cpu_split, v->own_cpu_start_ns);
	json_out_known_uint(j, "own_cpu_recording_ns", v->own_cpu_split,
			    coverage_own_cpu_steady(v));
	json_out_known_uint(j, "own_cpu_stop_ns", v->own_cpu_split, v->own_cpu_stop_ns);
	json_out_object_end(j);
}

/* ---- text ---- */

static void names_print(FILE *out, const char *what, const json_t *names)
{
	size_t n = json_array_size(names);
	const char *s;

	if (!n)
		return;
	fprintf(out, "             %s:", what);
	for (size_t i = 0; i < n && i < NAMES_SHOWN; i++) {
		s = json_string_value(json_array_get(names, i));
		fputs(i ? ", " : " ", out);
		text_foreign(out, "", s ? s : "?", 40);
	}
	if (n > NAMES_SHOWN)
		fprintf(out, " and %zu more", n - NAMES_SHOWN);
	fputc('\n', out);
}

static void probes_print(const struct coverage_library *l, FILE *out)
{
	fprintf(out, "             %" PRIu64 " functions attached", l->attached);
	text_foreign(out, " by ", l->link, 40);
	fprintf(out,
		", %" PRIu64 " absent, %" PRIu64 " failed; sites: %" PRIu64 " emulated, %" PRIu64
		" single-stepped\n",
		l->missing, l->failed, l->emulated, l->stepped);
}

static void library_print(const struct coverage_library *l, FILE *out)
{
	fputs("  library    ", out);
	text_foreign(out, "", l->path, 70);
	text_foreign(out, " (", l->flavour, 16);
	text_foreign(out, " ", l->version, 16);
	fputs(*l->flavour ? ")\n" : "\n", out);
	if (l->preloaded)
		fprintf(out,
			"             %" PRIu64 " functions recorded by processes themselves\n",
			l->preloaded);
	if (!l->preloaded || l->attached || l->failed)
		probes_print(l, out);
	names_print(out, "FAILED", l->failed_names);
	text_foreign(out, "             refused: ", l->refused, 80);
	fputs(*l->refused ? "\n" : "", out);
}

static const char *const consequence[POV_CLASS_CNT] = {
	[POV_CLASS_CALL] = "calls are missing there: counts, MPI time and bytes are too low",
	[POV_CLASS_SPIN] = "polls are missing there: counts and polling are too low",
	[POV_CLASS_MORE] = "long argument arrays are cut there: bytes may be unknown",
	[POV_CLASS_SCHED] = "states of threads and shares of cores are unknown there",
	[POV_CLASS_IRQ] = "interrupts are missing there",
	[POV_CLASS_TASK] = "threads may be unnamed there, and their processes unknown",
};

static void loss_print(const struct report *r, const struct coverage_loss *l, uint64_t n,
		       uint32_t class, FILE *out)
{
	char from[HUMAN_BYTES], to[HUMAN_BYTES];

	fprintf(out, "  LOST       %s %s record%s", COUNT_TEXT(n), loss_names[class],
		n == 1 ? "" : "s");
	if (l->stretches) {
		human_ns(from, sizeof(from), json_since_start(r, l->first_ns));
		human_ns(to, sizeof(to), json_since_start(r, l->last_ns));
		fprintf(out, " between %s and %s of the recording", from, to);
	}
	if (l->stretches > 1)
		fprintf(out, ", in %" PRIu64 " stretches", l->stretches);
	fprintf(out, ":\n             %s\n", consequence[class]);
}

static void losses_print(const struct report *r, FILE *out)
{
	const struct coverage *v = &r->coverage;
	uint64_t lost = 0;

	for (uint32_t i = 0; i < POV_CLASS_CNT; i++) {
		lost += v->lost_cnt[i];
		if (v->lost_cnt[i])
			loss_print(r, &v->loss[i], v->lost_cnt[i], i, out);
	}
	if (v->preload_no_area)
		fprintf(out,
			"             %s of threads that got no memory to record in: too many "
			"threads, too few file\n             descriptors (ulimit -n), no memory, "
			"no way to povtrace (a chroot), or no answer in time\n",
			PLURAL_TEXT(v->preload_no_area, "call is", "calls are"));
	if (lost > v->preload_no_area)
		fputs("             larger rings (record --ring-size) lose less\n", out);
	if (!lost)
		fprintf(out, "  lost       no record%s\n",
			v->has_end ? "" : ", as far as the file goes");
}

/* "tracing took 48.0 % of rank 1's time" */
static void limit_cost_print(const struct report *r, const struct coverage_limit *l, FILE *out)
{
	fprintf(out, "tracing took %.1f %% of ", 100 * l->cost);
	if (!l->proc)
		fputs("a process's time\n", out);
	else if (l->proc->is_rank)
		fprintf(out, "rank %s's time\n", RANK_LABEL(r, l->proc));
	else
		fprintf(out, "process %" PRIu32 "'s time\n", l->proc->host_pid);
}

char *limit_text(const struct report *r, const struct coverage_limit *l)
{
	char *text = xasprintf("%s", l->func->name);

	if (l->counted_since_ns)
		text = words(text, " is only counted from %s on",
			     NS_TEXT(json_since_start(r, l->counted_since_ns)));
	if (l->detached_since_ns)
		text = words(text, "%s not recorded from %s on", l->counted_since_ns ? "," : " is",
			     NS_TEXT(json_since_start(r, l->detached_since_ns)));
	return text;
}

static void limit_print(const struct report *r, FILE *out)
{
	const struct coverage *v = &r->coverage;
	bool any = false;

	for (uint32_t i = 0; i < v->nlimited; i++) {
		const struct coverage_limit *l = &v->limited[i];
		char *text;

		if (!l->func)
			continue;
		any = true;
		text = limit_text(r, l);
		fprintf(out, "  LIMIT      %s:\n             %s counted; ", text,
			PLURAL_TEXT(l->calls, "call", "calls"));
		limit_cost_print(r, l, out);
		free(text);
	}
	if (any)
		fprintf(out,
			"             of all processes, by record --max-overhead %g: single "
			"calls, their messages and some bytes\n"
			"             are missing there; --max-overhead off records them\n",
			100 * v->limit);
}

/*
 * Explains a kind of miss. Returns names that it does not know, from newer recorders, as they are.
 */
static const char *miss_text(const char *name)
{
	static const struct {
		const char *name, *text;
	} known[] = {
		{"depth", "calls nested too deeply, not recorded"},
		{"threads", "calls not recorded because there was no room for another thread"},
		{"no_entry", "calls left out because they had begun before attaching"},
		{"wait", "files that programs ran before povtrace had examined them: first calls "
			 "may be missing"},
		{"handlers", "calls of signal handlers not recorded because their thread was just "
			     "recording another call"},
		{"unprobed", "libraries in processes that were not recorded: their calls are "
			     "missing"},
		{"recursion", "events not recorded because that CPU was already in a probe"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(name, known[i].name))
			return known[i].text;
	}
	return name;
}

static void misses_print(const struct report *r, FILE *out)
{
	const char *name;
	json_t *v;

	json_object_foreach((json_t *)r->coverage.misses, name, v)
	{
		if (json_integer_value(v) <= 0)
			continue;
		fputs("  MISSED     ", out);
		text_foreign(out, "", miss_text(name), 80);
		fprintf(out, ": %s\n", COUNT_TEXT((uint64_t)json_integer_value(v)));
	}
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : *path ? path : "a library";
}

static void late_print(const struct report *r, FILE *out)
{
	const struct coverage *v = &r->coverage;

	for (uint32_t i = 0; i < v->nlate && i < LATE_SHOWN; i++) {
		fprintf(out, "  LATE       process %" PRIu32 ": ", trace_host_id(v->late[i].pid));
		text_foreign(out, "", file_name(v->late[i].path), 40);
		fprintf(out,
			" was probed %s after it was mapped;\n"
			"             calls until then are not recorded\n",
			NS_TEXT(v->late[i].late_ns));
	}
	if (v->nlate > LATE_SHOWN)
		fprintf(out, "             and %" PRIu32 " more\n", v->nlate - LATE_SHOWN);
}

static void waits_print(const struct coverage *v, FILE *out)
{
	if (v->wait_ns)
		fprintf(out,
			"  waits      threads waited %s in all, %s, while povtrace examined "
			"files\n",
			NS_TEXT(v->wait_ns), PLURAL_TEXT(v->questions, "time", "times"));
}

static void doubts_print(const struct report *r, FILE *out)
{
	const struct model_stats *s = model_get_stats(r->model);
	uint64_t tail_bytes = trace_get_summary(r->trace)->lost_tail_bytes;

	figures_lines(call_doubts, &r->coverage, out);
	if (s->sched_gaps)
		fprintf(out, "  gaps       scheduler records are missing during %s, in %s\n",
			NS_TEXT(s->sched_gap_ns),
			PLURAL_TEXT(s->sched_gaps, "stretch", "stretches"));
	figures_lines(record_doubts, s, out);
	if (tail_bytes)
		fprintf(out, "  cut off    %s after the last complete block\n",
			BYTES_TEXT(tail_bytes));
}

static void worst_print(const struct report *r, FILE *out)
{
	uint64_t worst_ns = 0;
	uint32_t worst = 0;

	for (uint32_t i = 0; i < r->nrows; i++) {
		if (r->coverage.process[r->row[i]].cost_ns > worst_ns) {
			worst = r->row[i];
			worst_ns = r->coverage.process[worst].cost_ns;
		}
	}
	if (!worst_ns || r->nrows < 2 || !r->time.process[worst].wall_ns)
		return;
	fprintf(out, "             highest in rank %s: %s%s, %.2f %% of its wall time\n",
		RANK_LABEL(r, model_process_get(r->model, worst)),
		r->lost[worst] & LOSS_OF_CALLS ? "≥" : "", NS_TEXT(worst_ns),
		100.0 * (double)worst_ns / (double)r->time.process[worst].wall_ns);
}

static void overhead_print(const struct report *r, FILE *out)
{
	const struct coverage_hits *h = &r->sum.hits;
	const struct coverage *v = &r->coverage;
	bool probed = h->calls || h->polls || !h->preloaded;

	if (!v->calibrated) {
		fprintf(out, "  overhead   unknown: the trace has no calibrated probe cost\n");
		return;
	}
	fprintf(out, "  overhead   %s", r->lost_shown & LOSS_OF_CALLS ? "≥" : "");
	if (h->preloaded)
		fprintf(out, "%s calls and polls recorded by processes themselves x %.0f ns%s",
			COUNT_TEXT(h->preloaded), v->preload_ns,
			probed || h->preloaded_counted ? "\n             + " : "");
	if (h->preloaded_counted)
		fprintf(out, "%s calls counted by processes themselves x %.0f ns%s",
			COUNT_TEXT(h->preloaded_counted), v->preload_counted_ns,
			probed ? "\n             + " : "");
	if (probed)
		fprintf(out, "%s calls x %.0f ns + %s polls x %.0f ns", COUNT_TEXT(h->calls),
			v->call_ns, COUNT_TEXT(h->polls), v->spin_ns);
	if (h->counted)
		fprintf(out, "\n             + %s calls that were counted x %.0f ns",
			COUNT_TEXT(h->counted), v->counted_ns);
	if (h->stepped && coverage_step_ns(v) > 0)
		fprintf(out, "\n             + %s of these single-stepped x %.0f ns",
			COUNT_TEXT(h->stepped), coverage_step_ns(v));
	if (h->switches && v->switch_ns > 0)
		fprintf(out, "\n             + %s context switches x %.0f ns",
			COUNT_TEXT(h->switches), v->switch_ns);
	fprintf(out, " = %s", NS_TEXT(h->cost_ns));
	if (r->sum.time.thread_ns)
		fprintf(out, ", %.2f %% of the threads' time",
			100.0 * (double)h->cost_ns / (double)r->sum.time.thread_ns);
	fputc('\n', out);
	if (h->kernel)
		fprintf(out,
			"             without %s calls and polls in the kernel (layer os), whose "
			"cost is unknown\n",
			COUNT_TEXT(h->kernel));
	worst_print(r, out);
}

/* Notes problems of processes that record their own calls. */
static void preload_print(const struct coverage *v, FILE *out)
{
	if (v->has_preload && coverage_probed(v))
		fprintf(out, "  by probes  %s: they do not record their calls themselves\n",
			PLURAL_TEXT(coverage_probed(v), "process", "processes"));
	if (v->preload_missed)
		fprintf(out,
			"             %s, because processes could not record them themselves\n",
			PLURAL_TEXT(v->preload_missed, "function has probes",
				    "functions have probes"));
	if (v->preload_wait_ns)
		fprintf(out, "  waited     %s for room to record, all threads together\n",
			NS_TEXT(v->preload_wait_ns));
	if (v->preload_damaged)
		fprintf(out,
			"  DAMAGED    %" PRIu64
			" threads have overwritten the memory that records their calls: their "
			"later calls are missing\n",
			v->preload_damaged);
}

static void own_cpu_print(const struct report *r, FILE *out)
{
	const struct coverage *v = &r->coverage;
	char steady[HUMAN_BYTES];
	double pct = 100.0 * (double)coverage_own_cpu_steady(v) / (double)r->cores.wall_ns;

	human_ns(steady, sizeof(steady), coverage_own_cpu_steady(v));
	if (v->own_cpu_split)
		fprintf(out,
			"  own CPU    the tracer itself: start %s, recording %s (%.2f %% of one "
			"CPU), stop %s\n",
			NS_TEXT(v->own_cpu_start_ns), steady, pct, NS_TEXT(v->own_cpu_stop_ns));
	else
		fprintf(out, "  own CPU    the tracer itself: %s, %.2f %% of one CPU\n", steady,
			pct);
}

void text_coverage(const struct report *r, FILE *out)
{
	const struct coverage *v = &r->coverage;

	text_section(out, "Coverage: what was recorded, and what it cost");
	if (!v->nlibrary)
		fprintf(out, "  library    no library was probed\n");
	for (uint32_t i = 0; i < v->nlibrary; i++)
		library_print(&v->library[i], out);
	losses_print(r, out);
	limit_print(r, out);
	misses_print(r, out);
	late_print(r, out);
	waits_print(v, out);
	doubts_print(r, out);
	overhead_print(r, out);
	preload_print(v, out);
	if (v->has_end && r->cores.wall_ns)
		own_cpu_print(r, out);
}
