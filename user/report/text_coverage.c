/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What could not be seen, and what seeing cost.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "report/text_priv.h"
#include "trace/trace_read.h"

#define NAMES_SHOWN 6
#define LATE_SHOWN 10

static void names_print(FILE *out, const char *what, const json_t *names)
{
	size_t i, n = json_array_size(names);
	const char *s;
	char *name;

	if (!n)
		return;
	fprintf(out, "             %s:", what);
	for (i = 0; i < n && i < NAMES_SHOWN; i++) {
		s = json_string_value(json_array_get(names, i));
		name = columns_printable(s ? s : "?", 40);
		fprintf(out, "%s %s", i ? "," : "", name);
		free(name);
	}
	if (n > NAMES_SHOWN)
		fprintf(out, " and %zu more", n - NAMES_SHOWN);
	fputc('\n', out);
}

static void library_print(const struct coverage_library *l, FILE *out)
{
	char *path = columns_printable(l->path, 70);
	char *what = columns_printable(l->flavour, 16),
	     *version = columns_printable(l->version, 16);
	char *link = columns_printable(l->link, 16), *refused = columns_printable(l->refused, 80);

	fprintf(out, "  library    %s%s%s%s%s%s\n", path, *what ? " (" : "", what,
		*version ? " " : "", version, *what ? ")" : "");
	fprintf(out,
		"             %" PRIu64 " functions attached%s%s; %" PRIu64 " not in it, %" PRIu64
		" failed; sites: %" PRIu64 " emulated, %" PRIu64 " single-stepped\n",
		l->attached, *link ? " by " : "", link, l->missing, l->failed, l->emulated,
		l->stepped);
	names_print(out, "FAILED", l->failed_names);
	if (*refused)
		fprintf(out, "             refused by the kernel: %s\n", refused);
	free(refused);
	free(path);
	free(what);
	free(version);
	free(link);
}

static void since_start(const struct report *r, uint64_t ts_ns, char *buf, size_t bytes)
{
	uint64_t start_ns = model_get_info(r->model)->start_ns;

	human_ns(buf, bytes, ts_ns > start_ns ? ts_ns - start_ns : 0);
}

static const char *const consequence[POV_CLASS_CNT] = {
	[POV_CLASS_CALL] = "calls are missing there: counts, MPI time and bytes are too low",
	[POV_CLASS_SPIN] = "polls are missing there: counts and polling are too low",
	[POV_CLASS_MORE] = "long argument arrays are cut there: bytes may be unknown",
	[POV_CLASS_SCHED] = "states of threads and shares of cores are unknown there",
	[POV_CLASS_IRQ] = "interrupts are missing there",
	[POV_CLASS_TASK] = "threads may be unnamed there, and their processes unknown",
};

static void loss_print(const struct report *r, const struct coverage_loss *l, uint64_t n, int class,
		       FILE *out)
{
	char cnt[HUMAN_BYTES], from[HUMAN_BYTES], to[HUMAN_BYTES];

	fprintf(out, "  LOST       %s %s record%s", human_count(cnt, sizeof(cnt), n),
		coverage_class_names[class], n == 1 ? "" : "s");
	if (l->stretches) {
		since_start(r, l->first_ns, from, sizeof(from));
		since_start(r, l->last_ns, to, sizeof(to));
		fprintf(out, " between %s and %s of the recording", from, to);
	}
	if (l->stretches > 1)
		fprintf(out, ", in %" PRIu64 " stretches", l->stretches);
	fprintf(out, ":\n             %s\n", consequence[class]);
}

static void losses_print(const struct report *r, FILE *out)
{
	const struct coverage *v = &r->coverage;
	bool any = false;
	int i;

	for (i = 0; i < POV_CLASS_CNT; i++) {
		uint64_t n = v->drops[i] > v->loss[i].cnt ? v->drops[i] : v->loss[i].cnt;

		any |= n != 0;
		if (n)
			loss_print(r, &v->loss[i], n, i, out);
	}
	if (any)
		fputs("             larger rings (record --ring-size) lose less\n", out);
	else
		fprintf(out, "  lost       nothing%s\n",
			v->has_end ? "" : ", as far as the file goes");
}

/* What a miss means; a name of a newer recorder is shown as it is. */
static const char *miss_text(const char *name)
{
	static const struct {
		const char *name, *text;
	} known[] = {
		{"depth", "calls nested too deeply, not recorded"},
		{"threads", "calls not recorded because there was no room for another thread"},
		{"no_entry", "calls that had begun before attaching, left out"},
		{"wait",
		 "files that programs ran before they had been looked at: first calls may be missing"},
		{"recursion",
		 "events not recorded because the kernel was in a probe on that CPU already"},
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(name, known[i].name))
			return known[i].text;
	}
	return name;
}

static void misses_print(const struct report *r, FILE *out)
{
	char cnt[HUMAN_BYTES], *text;
	const char *name;
	json_t *v;

	json_object_foreach((json_t *)r->coverage.misses, name, v)
	{
		if (json_integer_value(v) <= 0)
			continue;
		text = columns_printable(miss_text(name), 80);
		fprintf(out, "  MISSED     %s: %s\n", text,
			human_count(cnt, sizeof(cnt), (uint64_t)json_integer_value(v)));
		free(text);
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
	char took[HUMAN_BYTES], *name;
	uint32_t i;

	for (i = 0; i < v->nlate && i < LATE_SHOWN; i++) {
		name = columns_printable(file_name(v->late[i].path), 40);
		fprintf(out,
			"  LATE       process %" PRIu32 ": %s was probed %s after it was mapped;\n"
			"             calls until then are not recorded\n",
			v->late[i].pid, name, human_ns(took, sizeof(took), v->late[i].late_ns));
		free(name);
	}
	if (v->nlate > LATE_SHOWN)
		fprintf(out, "             and %" PRIu32 " more\n", v->nlate - LATE_SHOWN);
}

static void waits_print(const struct coverage *v, FILE *out)
{
	char cnt[HUMAN_BYTES], ns[HUMAN_BYTES];

	if (v->questions)
		fprintf(out,
			"  waits      threads asked %s time%s for files to be looked at, and waited %s in all\n",
			human_count(cnt, sizeof(cnt), v->questions), v->questions == 1 ? "" : "s",
			human_ns(ns, sizeof(ns), v->wait_ns));
}

static void doubt(FILE *out, const char *label, uint64_t n, const char *one, const char *many)
{
	char text[160];

	if (n)
		fprintf(out, "  %-10s %s\n", label, human_plural(text, sizeof(text), n, one, many));
}

static void doubts_print(const struct report *r, FILE *out)
{
	const struct model_stats *s = model_get_stats(r->model);
	const struct trace_summary *sum = trace_get_summary(r->trace);
	char a[HUMAN_BYTES], b[64];

	doubt(out, "open", r->coverage.open_calls, "call had not returned when it was read out",
	      "calls had not returned when they were read out");
	doubt(out, "unwound", r->coverage.unwound_calls,
	      "call was left without returning (longjmp, exception, exit)",
	      "calls were left without returning (longjmp, exception, exit)");
	if (s->sched_gaps)
		fprintf(out, "  gaps       scheduler records are missing during %s, in %s\n",
			human_ns(a, sizeof(a), s->sched_gap_ns),
			human_plural(b, sizeof(b), s->sched_gaps, "stretch", "stretches"));
	doubt(out, "gaps", s->sched_gaps_late,
	      "loss of scheduler records came unannounced: states before may be wrong",
	      "losses of scheduler records came unannounced: states before them may be wrong");
	doubt(out, "unnamed", s->unannounced_threads,
	      "thread was seen without a record of its birth",
	      "threads were seen without a record of their birth");
	doubt(out, "conflicts", s->contradictions,
	      "time, the kernel told nothing of a switch or wake-up in between: the state counts as unknown",
	      "times, the kernel told nothing of a switch or wake-up in between: the states count as unknown");
	doubt(out, "left out", s->bad_records, "record is malformed", "records are malformed");
	doubt(out, "left out", s->unknown_records, "record is of a kind this version does not know",
	      "records are of kinds this version does not know");
	doubt(out, "unknown", s->unknown_functions,
	      "call is of a function that the trace does not name",
	      "calls are of functions that the trace does not name");
	if (sum->lost_tail_bytes)
		fprintf(out, "  cut off    %s behind the last complete block\n",
			human_bytes(a, sizeof(a), sum->lost_tail_bytes));
}

static void worst_print(const struct report *r, FILE *out)
{
	char a[HUMAN_BYTES], label[REPORT_LABEL_BYTES];
	uint64_t worst_ns = 0;
	uint32_t i, worst = 0;

	for (i = 0; i < r->nrows; i++) {
		if (r->coverage.process[r->row[i]].cost_ns > worst_ns) {
			worst = r->row[i];
			worst_ns = r->coverage.process[worst].cost_ns;
		}
	}
	if (!worst_ns || r->nrows < 2 || !r->time.process[worst].wall_ns)
		return;
	fprintf(out, "             most in rank %s: %s%s, %.2f %% of its wall time\n",
		report_label(r, model_process_get(r->model, worst), label),
		r->lost[worst] & LOSS_OF_CALLS ? "≥" : "", human_ns(a, sizeof(a), worst_ns),
		100.0 * (double)worst_ns / (double)r->time.process[worst].wall_ns);
}

static void overhead_print(const struct report *r, FILE *out)
{
	uint64_t calls = 0, polls = 0, stepped = 0, cost_ns = 0, thread_ns = 0;
	const struct coverage *v = &r->coverage;
	char a[HUMAN_BYTES], b[HUMAN_BYTES];
	uint32_t i;

	if (!v->calibrated) {
		fprintf(out, "  overhead   not known: the trace holds no calibrated probe cost\n");
		return;
	}
	for (i = 0; i < r->nrows; i++) {
		const struct coverage_hits *h = &v->process[r->row[i]];

		calls += h->calls;
		polls += h->polls;
		stepped += h->stepped;
		cost_ns += h->cost_ns;
		thread_ns += r->time.process[r->row[i]].thread_ns;
	}
	fprintf(out, "  overhead   %s%s calls x %.0f ns + %s polls x %.0f ns",
		r->lost_shown & LOSS_OF_CALLS ? "≥" : "", human_count(a, sizeof(a), calls),
		v->call_ns, human_count(b, sizeof(b), polls), v->spin_ns);
	if (stepped && coverage_step_ns(v) > 0)
		fprintf(out, "\n             + %s of these single-stepped x %.0f ns",
			human_count(a, sizeof(a), stepped), coverage_step_ns(v));
	fprintf(out, " = %s", human_ns(a, sizeof(a), cost_ns));
	if (thread_ns)
		fprintf(out, ", %.2f %% of the threads' time",
			100.0 * (double)cost_ns / (double)thread_ns);
	fputc('\n', out);
	worst_print(r, out);
}

static void own_cpu_print(const struct report *r, FILE *out)
{
	const struct coverage *v = &r->coverage;
	char start[HUMAN_BYTES], steady[HUMAN_BYTES], stop[HUMAN_BYTES];
	double pct = 100.0 * (double)coverage_own_cpu_steady(v) / (double)r->cores.wall_ns;

	human_ns(steady, sizeof(steady), coverage_own_cpu_steady(v));
	if (v->own_cpu_split)
		fprintf(out,
			"  own CPU    the tracer itself: start %s, recording %s (%.2f %% of one CPU), "
			"stop %s\n",
			human_ns(start, sizeof(start), v->own_cpu_start_ns), steady, pct,
			human_ns(stop, sizeof(stop), v->own_cpu_stop_ns));
	else
		fprintf(out, "  own CPU    the tracer itself: %s, %.2f %% of one CPU\n", steady,
			pct);
}

void text_coverage(const struct report *r, FILE *out)
{
	const struct coverage *v = &r->coverage;
	uint32_t i;

	text_section(out, "Coverage: what was seen, and what it cost");
	if (!v->nlibrary)
		fprintf(out, "  library    none was attached to\n");
	for (i = 0; i < v->nlibrary; i++)
		library_print(&v->library[i], out);
	losses_print(r, out);
	misses_print(r, out);
	late_print(r, out);
	waits_print(v, out);
	doubts_print(r, out);
	overhead_print(r, out);
	if (v->has_end && r->cores.wall_ns)
		own_cpu_print(r, out);
}
