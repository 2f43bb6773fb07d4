/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The first lines of the text report: what was recorded, whether it is whole, and what to doubt.
 * Without ranks, why there are none.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/find.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "report/section.h"
#include "trace/trace_totals.h"
#include "trace/trace_read.h"

#define SCREEN_WIDTH 100
#define COMMAND_CHARS 98
#define THROTTLED_SHOWN 4 /* functions named on the first screen */

static void print_when(const struct report *r, FILE *out)
{
	const struct model_info *info = model_get_info(r->model);
	int64_t real_ns = (int64_t)info->start_ns + info->realtime_offset_ns;
	char when[64] = "";
	time_t seconds = real_ns / 1000000000;
	struct tm tm;

	if (info->realtime_offset_ns && gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC, ", &tm);
	fprintf(out, "  %-10s %s%s", "recorded", when, NS_TEXT(info->end_ns - info->start_ns));
	text_foreign(out, ", ended by: ", r->coverage.end_reason, 40);
	fputc('\n', out);
}

static void print_line(FILE *out, const char *label, const char *text)
{
	fprintf(out, "  %-10s ", label);
	text_foreign(out, "", text, 98);
	fputc('\n', out);
}

static void print_wrapped(FILE *out, const char *label, char *text)
{
	if (text) {
		fprintf(out, "  %s\n", label);
		text_note(out, "%s.", text);
	}
	free(text);
}

/*
 * Notes that the trace is a part of a longer recording, so readers do not take missing time for
 * idle time.
 */
static void print_kept(const struct report *r, FILE *out)
{
	print_wrapped(out, "part", trace_kept_text(r->trace));
	print_wrapped(out, "trigger", trace_trigger_text(r->trace));
}

char *text_command(const struct report *r, unsigned int max)
{
	const json_t *recording = trace_meta_find(r->trace, "recording");
	const json_t *argv = json_object_get(recording, "argv");
	char *text = xstrdup(""), *clean;

	for (size_t i = 0; i < json_array_size(argv) && strlen(text) < 4 * (size_t)max; i++) {
		const char *word = json_string_value(json_array_get(argv, i));

		text = words(text, "%s%s", i ? " " : "", word ? word : "");
	}
	clean = text_printable(text, max);
	free(text);
	return clean;
}

static void print_command(const struct report *r, FILE *out)
{
	char *text = text_command(r, COMMAND_CHARS);

	if (*text)
		print_line(out, "command", text);
	free(text);
}

static void print_ranks(const struct report *r, FILE *out)
{
	const struct model_info *info = model_get_info(r->model);
	uint32_t job = 0;

	fprintf(out, "  %-10s %u", "ranks", r->nranks);
	if (info->njobs > 1)
		fprintf(out, " of %u jobs", info->njobs);
	if (r->nranks && r->nrows < r->nranks)
		fprintf(out, "; %u chosen by --rank", r->nrows);
	fputc('\n', out);
	for (uint32_t i = 0; i < r->nranks && info->njobs > 1 && job < 16; i++) {
		const struct model_process *p = model_process_get(r->model, i);

		if (p->job_idx != (int32_t)job)
			continue;
		fprintf(out, "  %-10s job %u", "", job++);
		text_foreign(out, " is ", *p->job ? p->job : "(not named)", 60);
		fputc('\n', out);
	}
}

static void print_scheduler(const struct report *r, FILE *out)
{
	const struct model_info *info = model_get_info(r->model);

	fprintf(out, "  %-10s %s\n", "scheduler",
		info->sched_all ?
			"all tasks recorded" :
		info->sched_recorded ?
			"only switches of recorded processes: what else ran on cores is unknown" :
			"not recorded (--sched off): running, runnable, blocked, polling and "
			"cores are unknown");
}

/* Comes first: with this much tracing cost, no figure below is the program's own. */
static void print_distortion(const struct report *r, FILE *out)
{
	char *text;

	if (!distortion_matters(&r->distortion))
		return;
	text = distortion_text(&r->distortion);
	fputs("  DISTORTED\n", out);
	text_note(out, "%s.", text);
	fputc('\n', out);
	free(text);
}

/* Describes how a host's clock offset was found. Caller frees. */
static char *clock_text(const struct model *m, const struct model_host *h)
{
	const char *by = model_host_get(m, h->clock_host)->label;

	if (h->clock_by == TRACE_CLOCK_GIVEN)
		return xstrdup("by the time of day and --offset");
	if (h->clock_by == TRACE_CLOCK_MESSAGES)
		return xasprintf("by %s messages: to within %s of %s's",
				 COUNT_TEXT(h->clock_messages), NS_TEXT(h->clock_uncertainty_ns),
				 by);
	if (h->clock_violated_ns)
		return xasprintf(
			"by the time of day: with any steady drift, some message would arrive %s "
			"before it was sent",
			NS_TEXT(h->clock_violated_ns));
	return xstrdup("by the time of day: too few messages went both ways");
}

/*
 * Prints all hosts. For further hosts, adds how their times were moved to the first host's clock.
 */
static void print_hosts(const struct report *r, FILE *out)
{
	const struct model_info *info = model_get_info(r->model);
	char *line, *clock;

	for (uint32_t i = 0; i < info->nhosts; i++) {
		const struct model_host *h = model_host_get(r->model, i);

		line = xasprintf("%s, Linux %s %s, %u CPUs", *h->label ? h->label : "?", h->kernel,
				 h->machine, h->nr_cpus);
		print_line(out, i ? "" : "host", line);
		free(line);
		if (!i)
			continue;
		clock = clock_text(r->model, h);
		fprintf(out, "  %-10s   its times are shifted by %+.9f s and %+.1f ppm,\n%15s%s\n",
			"", (double)h->offset_ns / 1e9, (double)h->drift_ppb / 1000, "", clock);
		free(clock);
	}
}

/* Prints which functions the overhead limit has throttled, and since when. */
static void print_throttled(const struct report *r, FILE *out)
{
	const struct coverage *v = &r->coverage;
	uint32_t cnt = 0;
	char *text;

	for (uint32_t i = 0; i < v->nlimited; i++) {
		if (!v->limited[i].func || cnt++ >= THROTTLED_SHOWN)
			continue;
		text = limit_text(r, &v->limited[i]);
		fprintf(out, "  %-10s %s\n", cnt == 1 ? "COUNTED" : "", text);
		free(text);
	}
	if (!cnt)
		return;
	if (cnt > THROTTLED_SHOWN)
		fprintf(out, "  %-10s and %u more\n", "", cnt - THROTTLED_SHOWN);
	fprintf(out,
		"  %-10s by record --max-overhead %g (see Coverage): figures marked ≥ are lower "
		"bounds,\n             those marked ~ may be too low or too high\n",
		"", 100 * v->limit);
}

/* Prints reasons to doubt all figures of the report. */
static void print_doubts(const struct report *r, FILE *out)
{
	const struct trace_summary *sum = trace_get_summary(r->trace);

	if (!model_get_info(r->model)->complete)
		fprintf(out,
			"  %-10s the file is cut off: the report covers what is before the cut\n",
			"INCOMPLETE");
	if (sum->bad_blocks)
		fprintf(out,
			"  %-10s %llu blocks of the file are damaged: sums are too low, and "
			"times there are unknown\n",
			"DAMAGED", (unsigned long long)sum->bad_blocks);
	print_throttled(r, out);
	if (r->lost_any && !r->left_out_only)
		fprintf(out,
			"  %-10s records are missing (see Coverage): figures marked ≥ are "
			"lower bounds,\n             those marked ~ may be too low or too high\n",
			"LOST");
}

void text_about(const struct report *r, FILE *out)
{
	for (size_t i = 0; i < r->nsources; i++)
		print_line(out, i ? "" : "trace", trace_source_name(&r->source[i]));
	print_when(r, out);
	print_kept(r, out);
	print_hosts(r, out);
	print_command(r, out);
	print_ranks(r, out);
	print_scheduler(r, out);
}

void text_head(const struct report *r, FILE *out)
{
	print_distortion(r, out);
	text_about(r, out);
	print_doubts(r, out);
	text_launchers(r, out);
}

char *text_facts(const struct report *r)
{
	const struct model_info *info = model_get_info(r->model);
	uint64_t whole_ns = info->end_ns - info->start_ns, run_ns = r->reasons.run_ns;
	char *run = run_ns && run_ns < whole_ns / 10 * 9 ?
			    xasprintf(", %s from Init to Finalize", ROUND_NS_TEXT(run_ns)) :
			    xstrdup("");
	char *text = xasprintf("%s%s · %s · %s · %s · %s", ROUND_NS_TEXT(whole_ns), run,
			       PLURAL_TEXT(r->nranks, "rank", "ranks"),
			       PLURAL_TEXT(info->nr_cpus, "CPU", "CPUs"),
			       PLURAL_TEXT(info->nhosts > 1 ? info->nhosts : 1, "node", "nodes"),
			       r->left_out_only ? "some calls only counted" :
			       r->lost_any	? "records lost" :
						  "nothing lost");

	free(run);
	if (r->distorted)
		text = words(text, " · tracing cost %.1f %%", distortion_most_pct(&r->distortion));
	return text;
}

void text_doubts(const struct report *r, FILE *out)
{
	print_kept(r, out);
	if (!model_get_info(r->model)->sched_all)
		print_scheduler(r, out);
	print_doubts(r, out);
	text_launchers(r, out);
}

/* Prints file and command on one line, and the facts to the right, or below if they do not fit. */
void text_short_head(const struct report *r, FILE *out)
{
	const char *trace = trace_source_name(r->source), *slash = strrchr(trace, '/');
	char *facts = text_facts(r), *command = text_command(r, COMMAND_CHARS), *name, *line;

	print_distortion(r, out);
	name = text_printable(slash ? slash + 1 : trace, 40);
	if (r->nsources > 1)
		name = words(name, " and %zu more", r->nsources - 1);
	line = xasprintf("%s%s%s", name, *command ? "   " : "", command);
	if (text_chars(line) + 3 + text_chars(facts) <= SCREEN_WIDTH) {
		fprintf(out, "%s%*s%s\n", line,
			(int)(SCREEN_WIDTH - text_chars(line) - text_chars(facts)), "", facts);
	} else {
		fprintf(out, "%s\n", line);
		text_wrapped_print(out, "", facts, SCREEN_WIDTH);
	}
	free(line);
	free(name);
	free(command);
	free(facts);
	text_doubts(r, out);
}

/* True if functions of a layer below MPI were called. Then the program may not use MPI at all. */
static bool other_layer_called(const struct report *r)
{
	return table_any(r->functions.nrow, i,
			 r->functions.row[i]->calls && !func_is_top(r->functions.row[i]->func));
}

static bool any_target_lives(const struct report *r)
{
	for (uint32_t i = 0; i < r->nprocesses; i++) {
		const struct model_process *p = model_process_get(r->model, i);

		if (p->is_target && p->pid && !p->exited)
			return true;
	}
	return false;
}

static bool mpi_was_loaded(const struct report *r)
{
	return table_any(r->coverage.nlibrary, i,
			 *r->coverage.library[i].flavour && (r->coverage.library[i].attached ||
							     r->coverage.library[i].preloaded));
}

void text_no_rank(const struct report *r, FILE *out)
{
	text_section(out, "No MPI process was seen");
	if (other_layer_called(r) || model_region_count(r->model)) {
		text_note(out, "No MPI call was recorded; %s below.",
			  other_layer_called(r) ? "calls of other layers are" :
						  "the regions asked for are");
		return;
	}
	if (any_target_lives(r)) {
		text_note(out,
			  "No process had initialised MPI by the end of the recording, or povtrace "
			  "could not attach to its library (see Coverage below). Some recorded "
			  "processes were still running: to follow a command in the background, "
			  "use povtrace record -p PID. Check that the MPI program runs on this "
			  "host, and what \"povtrace check\" reports.");
		return;
	}
	if (mpi_was_loaded(r) && r->lost_shown & LOSS_MISSED_CALLS) {
		text_note(out, "An MPI library was ready to be recorded, but calls are missing "
			       "(see Coverage below).");
		return;
	}
	if (mpi_was_loaded(r)) {
		text_note(out, "An MPI library was ready to be recorded, but no process completed "
			       "MPI_Init.");
		return;
	}
	text_note(out, "No recorded process initialised MPI, or povtrace could not attach to "
		       "its library (see Coverage below). Check that the command starts the MPI "
		       "program on this host, and what \"povtrace check\" reports. A static "
		       "program must keep its symbol table (nm PROGRAM | grep MPI_Init). To "
		       "record a running program, use povtrace record -p PID, or --all.");
}
