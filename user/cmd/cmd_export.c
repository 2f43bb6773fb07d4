/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace export writes a recording as a timeline for Perfetto, or as a picture. This file has the
 * options and the totals; timeline/export.c does the work.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json_out.h"
#include "lib/log.h"
#include "lib/person.h"
#include "lib/option.h"
#include "cmd/sources.h"
#include "trace/trace_limit.h"
#include "timeline/export.h"

struct export_args {
	const char *output, *format;
	uint64_t from_ns, to_ns, resolution_ns;
	int detail;
	struct option_list ranks, functions, offsets;
	bool totals, every_switch, one_run;
};

enum detail { DETAIL_AUTO, DETAIL_ALL };
static const char *const details[] = {[DETAIL_AUTO] = "auto", [DETAIL_ALL] = "all", NULL};

static int print_totals(const struct writer_totals *t)
{
	struct json_out *j = json_out_new(stdout, JSON_OUT_PRETTY);

	json_out_object_begin(j);
	json_out_key_uint(j, "slices", t->slices);
	json_out_key_uint(j, "instants", t->instants);
	json_out_key_uint(j, "flows", t->flows);
	json_out_key_uint(j, "counters", t->counters);
	json_out_key_uint(j, "switches", t->switches);
	json_out_key_uint(j, "wakings", t->wakings);
	json_out_key_uint(j, "calls", t->calls);
	json_out_key_uint(j, "spins", t->spins);
	json_out_key_uint(j, "counted", t->counted);
	json_out_key_uint(j, "grouped", t->grouped);
	json_out_key_uint(j, "groups", t->groups);
	json_out_key_uint(j, "resolution_ns", t->resolution_ns);
	json_out_key_uint(j, "irqs", t->irqs);
	json_out_key_uint(j, "markers", t->markers);
	json_out_key_uint(j, "phases", t->phases);
	json_out_key_uint(j, "posts", t->posts);
	json_out_key_uint(j, "completions", t->completions);
	json_out_key_uint(j, "arrivals", t->arrivals);
	json_out_key_uint(j, "pairs", t->pairs);
	json_out_key_uint(j, "arrows", t->arrows);
	json_out_key_uint(j, "operations", t->operations);
	json_out_key_uint(j, "arrows_reversed", t->arrows_reversed);
	json_out_key_uint(j, "arrows_hidden", t->arrows_hidden);
	json_out_key_uint(j, "counters_hidden", t->counters_hidden);
	json_out_key_uint(j, "unpaired", t->unpaired);
	json_out_key_uint(j, "messages", t->messages);
	json_out_key_uint(j, "messages_hidden", t->messages_hidden);
	json_out_key_uint(j, "findings", t->findings);
	json_out_key_uint(j, "findings_hidden", t->findings_hidden);
	json_out_key_uint(j, "open", t->open);
	json_out_key_uint(j, "synthetic", t->synthetic);
	json_out_key_uint(j, "merged", t->merged);
	json_out_key_uint(j, "misplaced", t->misplaced);
	json_out_key_uint(j, "early", t->early);
	json_out_key_uint(j, "undecided", t->undecided);
	json_out_key_uint(j, "samples", t->samples);
	json_out_key_uint(j, "stacks", t->stacks);
	json_out_key_uint(j, "bytes", t->bytes);
	json_out_object_end(j);
	return json_out_finish(j);
}

static int check_usage(const struct export_args *a, int argc)
{
	if (argc < 1)
		log_error("export: give a recording to export; see `povtrace help export`");
	else if (!a->output)
		log_error("export: give an output file with -o (\"-o -\" is stdout)");
	else if (a->totals && !strcmp(a->output, "-"))
		log_error("export: --totals and the timeline cannot both go to stdout");
	else if (a->detail == DETAIL_ALL && a->resolution_ns)
		log_error("export: --detail all draws every call and cannot be combined with "
			  "--resolution");
	else if (a->to_ns && a->to_ns <= a->from_ns)
		log_error("export: --to must be later than --from");
	else
		return 0;
	return -EINVAL;
}

static int export_selected(const struct export_args *a, const struct trace_source *source, int cnt,
			   const struct rank_list *ranks)
{
	struct export_options opt = {
		.format = a->format,
		.select = {.from_ns = a->from_ns,
			   .to_ns = a->to_ns,
			   .ranks = *ranks,
			   .functions = a->functions.item,
			   .nfunctions = (uint32_t)a->functions.cnt,
			   .every_switch = a->every_switch,
			   .all_calls = a->detail == DETAIL_ALL,
			   .resolution_ns = a->resolution_ns},
	};
	struct person *behind = person_behind();
	struct writer_totals totals;
	int err;

	opt.as = behind;
	err = export_timeline(source, (size_t)cnt, a->output, &opt, &totals);
	person_free(behind);
	if (err)
		return err == -ENOTSUP ? 2 : 1;
	export_report(a->output, a->format, &totals);
	return a->totals && print_totals(&totals) ? 1 : 0;
}

static int export_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct export_args *a = opts;
	struct rank_list ranks = {0};
	struct trace_source *source;
	int rc = 2, err = 0;

	if (check_usage(a, argc))
		return 2;
	for (size_t i = 0; i < a->ranks.cnt && !err; i++)
		err = rank_list_parse(a->ranks.item[i], &ranks);
	source = err ? NULL : sources_parse(argv, argc, &a->offsets, a->one_run);
	if (source) {
		trace_limit_memory(argv, argc);
		rc = export_selected(a, source, argc, &ranks);
	}
	free(source);
	rank_list_release(&ranks);
	return rc;
}

#define AT(member) offsetof(struct export_args, member)

static const struct option_def options[] = {
	{"output", 'o', OPTION_STRING, AT(output), "FILE",
	 .help = "Write to FILE; its ending decides the format: .json, .json.gz (Chrome JSON) or "
		 ".pftrace (Perfetto's own, smaller and richer), .svg, a picture, or "
		 ".folded, stacks for flame graphs; each also with .gz. \"-\" is stdout."},
	{"format", 'f', OPTION_STRING, AT(format), "NAME",
	 .help = "The format, regardless of FILE's ending: json, pftrace, svg or folded, each "
		 "also with .gz."},
	{"from", 0, OPTION_SECONDS, AT(from_ns), "TIME",
	 .help = "Leave out what ended before TIME (seconds since the recording's start)."},
	{"to", 0, OPTION_SECONDS, AT(to_ns), "TIME",
	 .help = "Leave out what began after TIME (seconds since the recording's start)."},
	{"rank", 'r', OPTION_LIST, AT(ranks), "LIST",
	 .help = "Show calls, what they posted, and counters of only these ranks: 0,3-5; with "
		 "several jobs also 1:3 (job 1, rank 3). CPUs stay complete. May be given several "
		 "times."},
	{"function", 0, OPTION_LIST, AT(functions), "GLOB",
	 .help = "Show calls of matching functions only, and what they posted, e.g. 'MPI_I*'. "
		 "May be given several times."},
	{"detail", 0, OPTION_CHOICE, AT(detail), "HOW", .dflt = "auto", .choices = details,
	 .help = "With all, draw each call. With auto, draw short calls of a large recording "
		 "together, each group as one slice with their number, time and bytes, so that the "
		 "timeline is about ten times the recording's size."},
	{"resolution", 0, OPTION_SECONDS, AT(resolution_ns), "TIME", .min = 1,
	 .help = "Draw calls shorter than TIME together (e.g. 10us), however many there are. A "
		 "group spans the calls that begin within TIME of its first."},
	{"every-switch", 0, OPTION_FLAG, AT(every_switch),
	 .help = "Show every context switch. Without it, threads that poll and hand a CPU to each "
		 "other every few microseconds are shown one after the other within a "
		 "millisecond, each for its total time on the CPU."},
	{"offset", 0, OPTION_LIST, AT(offsets), SOURCES_OFFSET_ARG, .help = SOURCES_OFFSET_HELP},
	{"one-run", 0, OPTION_FLAG, AT(one_run), .help = SOURCES_ONE_RUN_HELP},
	{"totals", 0, OPTION_FLAG, AT(totals),
	 .help = "Print on stdout, as JSON, how many slices, arrows and so on were written."},
	{.name = NULL},
};

static const char *const examples[] = {
	"povtrace export run.pov -o run.pftrace",
	"Write a timeline; open it at https://ui.perfetto.dev (it stays in your browser).",
	"povtrace export run.pov -o part.json.gz --from 1.5 --to 2 --rank 0,1",
	"Half a second of two ranks, as compressed JSON.",
	"povtrace export run.pov -o - -f json --function 'MPI_*[Ss]end' | jq .traceEvents",
	"Pass the sends and the scheduler's work to another program.",
	"povtrace export node1.pov node2.pov -o job.pftrace",
	"One timeline of a job on two nodes, recorded on each of them.",
	"povtrace export run.pov -o moment.svg --from 1.64 --to 1.66",
	"Draw 20 ms: what each rank did, and who had the CPUs.",
	"povtrace export run.pov -o run.folded",
	"Write in which functions ranks computed; `flamegraph.pl run.folded >flame.svg` draws it.",
	NULL,
};

const struct command cmd_export = {
	.name = "export",
	.brief = "Write a recording as a timeline for Perfetto, or draw a part of it.",
	.usage = "[options] FILE.pov ... -o OUTPUT",
	.details =
		"Each rank is a process with its threads; MPI calls are slices with their "
		"arguments, on top of what the scheduler did with each thread and CPU. Arrows lead "
		"from sends to receives, from nonblocking operations to their completion, and from "
		"calls to the threads that they woke. The report's findings are above all ranks. "
		"If layers below MPI were recorded, tracks of each rank show what they posted, "
		"completed and received, and the messages reconstructed from that. Where events "
		"were lost, there is a marker. Needs no privilege and little memory, however long "
		"the recording. The output appears under its name only when it is complete.\n\n"
		"Several files are recordings of one job on several hosts: they become one "
		"timeline, whose processes and CPUs are named with their hosts. Their times are "
		"related by the messages that the hosts sent each other or, if these went one way "
		"only, by each host's time of day at the start and end of its recording.\n\n"
		"A picture (.svg) is for documents and tickets. It has a band for each rank, which "
		"shows what the rank's main thread did, a track for each CPU, arrows for up to 200 "
		"messages, and marks for findings. It shows at most 64 ranks and 64 CPUs. "
		"kmod-docs/PICTURE.md explains the colours.\n\n"
		"Folded stacks (.folded) show in which functions ranks computed between MPI_Init "
		"and MPI_Finalize: lines \"rank 0;app;work;app.c:17 42\", which flamegraph.pl, "
		"inferno and speedscope.app read. The number counts samples, taken 97 times per "
		"second of CPU time outside MPI. Callers of functions are known only with `record "
		"--stacks`.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct export_args),
	.run = export_run,
};
