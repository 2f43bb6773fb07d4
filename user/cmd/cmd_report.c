/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace report prints where the time of ranks and cores went. This file has only the options,
 * and finds the runs of --scaling. The numbers come from analysis/, their form from report/.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/file.h"
#include "lib/person.h"
#include "lib/progress.h"
#include "lib/text.h"
#include "lib/option.h"
#include "report/report.h"
#include "cmd/sources.h"
#include "timeline/export.h"
#include "trace/trace_limit.h"

#define FIELD(name) offsetof(struct report_args, name)

struct report_args {
	bool json, json_schema, threads, traffic, csv, explain, one_run, scaling, weak;
	bool functions, regions, collectives, messages, overlap, cores, coverage, all, call_sites,
		hang, findings, times, places;
	struct option_list ranks, offsets;
	const char *section, *output;
	uint64_t top, min;
	int sort;
};

static const char *const sort_keys[] = {
	[REPORT_SORT_RANK] = "rank",
	[REPORT_SORT_RUNNING] = "running",
	[REPORT_SORT_RUNNABLE] = "runnable",
	[REPORT_SORT_BLOCKED] = "blocked",
	[REPORT_SORT_MPI] = "mpi",
	[REPORT_SORT_POLLING] = "polling",
	NULL,
};

static uint32_t details_of(const struct report_args *a)
{
	return (a->functions ? DETAIL_FUNCTIONS : 0) | (a->regions ? DETAIL_REGIONS : 0) |
	       (a->collectives ? DETAIL_COLLECTIVES : 0) |
	       (a->messages ? DETAIL_MESSAGES | DETAIL_POSTS : 0) |
	       (a->overlap ? DETAIL_OVERLAP : 0) | (a->cores ? DETAIL_TIMES | DETAIL_CORES : 0) |
	       (a->coverage ? DETAIL_COVERAGE : 0) | (a->call_sites ? DETAIL_CALL_SITES : 0) |
	       (a->findings ? DETAIL_FINDINGS : 0) | (a->times ? DETAIL_MAIN_TIMES : 0) |
	       (a->hang ? DETAIL_HANG : 0) | (a->section ? DETAIL_SECTION : 0) |
	       (a->places ? DETAIL_PLACES : 0) | (a->all ? DETAIL_ALL : 0);
}

static int form_print(struct report *r, const struct report_args *a)
{
	int err = 0;

	if (a->output)
		return report_html(r, a->output);
	if (a->json)
		err = report_json(r, stdout);
	else if (a->csv)
		err = report_traffic_csv(r, stdout);
	else if (a->traffic)
		report_traffic(r, stdout);
	else
		report_text(r, stdout);
	if (err)
		log_error("report: cannot write: %s", log_unwritten(-err));
	return err;
}

static int report_print(const struct trace_source *source, size_t cnt,
			const struct report_options *opt, const struct report_args *a)
{
	struct report r;
	int err;

	trace_sources_progress(source, cnt, 0, a->output ? 2 : 1);
	err = report_open(source, cnt, opt, &r);
	if (err || !a->output) /* a page reads the recording again */
		progress_end();
	if (err)
		return err;
	if (a->traffic)
		err = report_traffic_check(&r);
	if (!err)
		err = report_section_check(&r);
	if (!err)
		err = form_print(&r, a);
	progress_end();
	report_close(&r);
	return err;
}

/* Checks the name of a page, and the options beside it. 0 or -EINVAL (printed). */
static int output_check(const struct report_args *a, int argc, char **argv)
{
	size_t n = strlen(a->output);

	if (!text_ends_in(a->output, n, ".html") && !text_ends_in(a->output, n, ".htm")) {
		log_error("report: %s: -o writes an HTML page, so FILE must end in .html or .htm; "
			  "for pictures and timelines use povtrace export",
			  a->output);
		return -EINVAL;
	}
	if (a->json || a->csv || a->traffic || a->threads || a->explain || details_of(a)) {
		log_error("report: -o can be combined only with --rank, --top, --min, --sort, "
			  "--offset and --one-run");
		return -EINVAL;
	}
	for (int i = 0; i < argc; i++)
		if (output_file_is_recording("report", a->output, argv[i]))
			return -EINVAL;
	return 0;
}

/* ---- --scaling ---- */

/* True if the options can be combined with --scaling. */
static bool scaling_is_alone(const struct report_args *a)
{
	if (!a->scaling && a->weak) {
		log_error("report: --weak needs --scaling");
		return false;
	}
	if (!a->scaling || !(details_of(a) || a->threads || a->traffic || a->csv || a->explain ||
			     a->ranks.cnt || a->offsets.cnt))
		return true;
	log_error("report: --scaling is a table of its own: only --weak, --output, --json and "
		  "--one-run go with it");
	return false;
}

/* The trace files of each run. */
struct runs {
	struct trace_source **source; /* the files of each run; owned */
	size_t *nsources;
	size_t n;
};

static void runs_release(struct runs *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->source[i]);
	free(r->source);
	free(r->nsources);
}

/* Adds a run with the files from *begin up to end. */
static int run_add(struct runs *r, char **argv, int *begin, int end, bool one_run)
{
	static const struct option_list no_offsets;
	int n = end - *begin;
	struct trace_source *source = n ? sources_parse(argv + *begin, n, &no_offsets, one_run) :
					  NULL;

	*begin = end;
	if (!n)
		log_error("report: --scaling: \"--\" separates the files of one run from those of "
			  "the next, and one run has none");
	if (!source)
		return -EINVAL;
	r->source[r->n] = source;
	r->nsources[r->n++] = (size_t)n;
	return 0;
}

/*
 * Splits the files at "--". The option parser has removed the first one, which was at dashdash;
 * this removes the others, so that *argc files are left.
 */
static int runs_parse(struct runs *r, int *argc, char **argv, int dashdash, bool one_run)
{
	int begin = 0, kept = 0, err = 0;

	r->source = xcalloc((size_t)*argc + 2, sizeof(struct trace_source *));
	r->nsources = xcalloc((size_t)*argc + 2, sizeof(*r->nsources));
	for (int i = 0; i <= *argc && !err; i++) {
		bool is_end = i == *argc;
		bool between = !is_end && dashdash >= 0 && !strcmp(argv[i], "--");

		if (i == dashdash || (dashdash < 0 && !is_end && kept > begin))
			err = run_add(r, argv, &begin, kept, one_run);
		if (!err && (between || is_end))
			err = run_add(r, argv, &begin, kept, one_run);
		if (!between && !is_end)
			argv[kept++] = argv[i];
	}
	*argc = kept;
	return err;
}

static int picture_write(const struct scaling *s, const char *path)
{
	struct person *user = person_behind();
	struct output_file o;
	int err = output_file_begin(&o, "report", s->run[0].source->path, path, user);

	if (!err) {
		err = svg_scaling_write(s, o.file);
		if (err)
			log_error("report: cannot write %s: %s", path, log_unwritten(-err));
		err = output_file_end(&o, err);
	}
	if (!err)
		log_info("wrote %s: efficiencies of %u runs", path, s->nknown);
	person_free(user);
	return err;
}

static int scaling_print(const struct scaling *s, const struct report_args *a)
{
	int err = 0;

	if (a->json)
		err = scaling_json(s, stdout);
	else
		scaling_text(s, stdout);
	if (err)
		log_error("report: cannot write: %s", log_unwritten(-err));
	if (!err && a->output)
		err = picture_write(s, a->output);
	return err;
}

/* Scaling needs two runs with known efficiencies. */
static int scaling_check(const struct scaling *s)
{
	if (s->nknown >= 2)
		return 0;
	if (s->n < 2)
		log_error("report: --scaling compares runs, and %s is one: name several",
			  s->run[0].source->path);
	else
		log_error("report: --scaling needs two runs in which the time between MPI_Init and "
			  "MPI_Finalize is known; of %u, %s it",
			  s->n, s->nknown ? "only one has" : "none has");
	return -ENODATA;
}

static int runs_report(const struct runs *r, const struct report_args *a)
{
	struct scaling s = {.weak = a->weak};
	int err = 0;

	for (size_t i = 0; i < r->n && !err; i++) {
		trace_sources_progress(r->source[i], r->nsources[i], 0, 1);
		err = scaling_read(&s, r->source[i], r->nsources[i]);
		progress_end();
	}
	if (!err) {
		scaling_make(&s);
		err = scaling_check(&s);
	}
	if (!err)
		err = scaling_print(&s, a);
	scaling_release(&s);
	return err;
}

/*
 * Each file is a run, or "--" separates the files of one run from those of the next. Returns the
 * exit status.
 */
static int scaling_run(const struct report_args *a, int argc, char **argv, int dashdash)
{
	struct runs runs = {0};
	int status = 2;

	if (a->output && !text_ends_in(a->output, strlen(a->output), ".svg")) {
		log_error("report: -o %s: the picture's name must end in .svg", a->output);
		return 2;
	}
	if (!runs_parse(&runs, &argc, argv, dashdash, a->one_run)) {
		trace_limit_memory(argv, argc);
		status = runs_report(&runs, a) ? 1 : 0;
	}
	runs_release(&runs);
	return status;
}

/* ---- the command ---- */

static int schema_run(const struct report_args *a, int argc)
{
	if (argc) {
		log_error("report: --json-schema takes no file");
		return 2;
	}
	return schema_print(a->scaling ? "scaling" : "report", stdout) ? 1 : 0;
}

static int report_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct report_args *a = opts;
	struct report_options opt = {
		.threads = a->threads,
		.traffic = a->traffic,
		.explain = a->explain,
		.details = a->output ? DETAIL_CALL_SITES : details_of(a),
		.top = (uint32_t)a->top,
		.min_pct = (uint32_t)a->min,
		.sort = (enum report_sort)a->sort,
	};
	struct trace_source *source;
	int err = 0;

	if (a->json_schema)
		return schema_run(a, argc);
	if (argc < 1) {
		log_error("report: give a trace file; see `povtrace help report`");
		return 2;
	}
	if (!scaling_is_alone(a))
		return 2;
	if (a->scaling)
		return scaling_run(a, argc, argv, dashdash);
	if (a->csv && (!a->traffic || a->json)) {
		log_error("report: --csv needs --traffic and cannot be combined with --json");
		return 2;
	}
	if (a->section && a->traffic) {
		log_error("report: --section and --traffic cannot be combined");
		return 2;
	}
	if (a->output && output_check(a, argc, argv))
		return 2;
	if (a->section && section_parse(a->section, &opt.section))
		return 2;
	for (size_t i = 0; i < a->ranks.cnt && !err; i++)
		err = rank_list_parse(a->ranks.item[i], &opt.ranks);
	source = err ? NULL : sources_parse(argv, argc, &a->offsets, a->one_run);
	if (!source) {
		rank_list_release(&opt.ranks);
		return 2;
	}
	trace_limit_memory(argv, argc);
	err = report_print(source, (size_t)argc, &opt, a);
	free(source);
	rank_list_release(&opt.ranks);
	return err ? 1 : 0;
}

static const struct option_def report_options_table[] = {
	{"output", 'o', OPTION_STRING, FIELD(output), "FILE",
	 .help = "Write a page for a browser (.html) instead: one file with pictures and tables, "
		 "without references. With --scaling: also write a picture (.svg) of efficiencies "
		 "against ranks. FILE appears only when it is complete."},
	{"json", 'j', OPTION_FLAG, FIELD(json),
	 .help = "Write JSON; its members are described in kmod-docs/REPORT_JSON.md, among the "
		 "sources and in share/doc/povtrace."},
	{"json-schema", 0, OPTION_FLAG, FIELD(json_schema),
	 .help = "Print the JSON Schema of what --json writes, also of stat and hang, or of what "
		 "--scaling --json writes; read no FILE. `povtrace diff` has a schema of its own; "
		 "the JSON of other commands has none."},
	{"findings", 0, OPTION_FLAG, FIELD(findings),
	 .help = "Print the evidence instead, by the rules of kmod-docs/FINDINGS.md: each kind of "
		 "waiting, and who took cores from ranks."},
	{"times", 0, OPTION_FLAG, FIELD(times),
	 .help = "Print what the scheduler saw of each rank's main thread, and who took most of "
		 "each core."},
	{"functions", 0, OPTION_FLAG, FIELD(functions),
	 .help = "Print the functions that were called instead: how often, how long, and the "
		 "distribution of their times, for all ranks together and for each."},
	{"places", 0, OPTION_FLAG, FIELD(places),
	 .help = "Print in which functions ranks computed, by samples; with `record --stacks`, "
		 "what libraries did counts for the function of the program that called them."},
	{"regions", 0, OPTION_FLAG, FIELD(regions),
	 .help = "Print how efficient ranks were in each phase of the program (MPI_Pcontrol) and "
		 "in each region, and how long they were in these."},
	{"callsite", 0, OPTION_FLAG, FIELD(call_sites),
	 .help = "Print MPI functions by call site, and how unequal ranks are there. A site has "
		 "its function, file and line if the program is here as it was recorded, with "
		 "debug information (cc -g)."},
	{"collectives", 0, OPTION_FLAG, FIELD(collectives),
	 .help = "Print who came last to collective calls, how often, and how long others waited "
		 "for it."},
	{"messages", 0, OPTION_FLAG, FIELD(messages),
	 .help = "Print how large messages were, who sent how much to whom, and how many were "
		 "matched."},
	{"hang", 0, OPTION_FLAG, FIELD(hang),
	 .help = "Print where each rank was when the recording ended, whom it waited for there, "
		 "and whether it can go on at all."},
	{"overlap", 0, OPTION_FLAG, FIELD(overlap),
	 .help = "Print, by call site, how long the program waited for nonblocking operations, and "
		 "how much of that the computation before could have hidden."},
	{"cores", 0, OPTION_FLAG, FIELD(cores),
	 .help = "Print where the time of all threads went, what each core ran, who had it while "
		 "others wanted it, and context switches."},
	{"coverage", 0, OPTION_FLAG, FIELD(coverage),
	 .help = "Print what was recorded, what could not be, and what recording cost."},
	{"all", 'a', OPTION_FLAG, FIELD(all), .help = "Print everything."},
	{"explain", 'e', OPTION_FLAG, FIELD(explain),
	 .help = "Print an explanation of the columns below each table."},
	{"traffic", 0, OPTION_FLAG, FIELD(traffic),
	 .help = "Report only what was passed to the network: to whom, by which device, for which "
		 "MPI function, in which phase; and when the data of nonblocking operations began "
		 "to move. Needs a recording of layers below MPI (record --layers posts)."},
	{"csv", 0, OPTION_FLAG, FIELD(csv),
	 .help = "With --traffic: write its rows as CSV, whose columns are described in "
		 "kmod-docs/TRAFFIC.md."},
	{"scaling", 0, OPTION_FLAG, FIELD(scaling),
	 .help = "Compare runs of one program with different numbers of ranks: efficiencies and "
		 "speedup (kmod-docs/REPORT_SCALING.md). Each FILE is a run; if runs have "
		 "several files, put -- between those of one run and the next."},
	{"weak", 0, OPTION_FLAG, FIELD(weak),
	 .help = "With --scaling: the work grows with the number of ranks. Without it, every run "
		 "is assumed to do the same work."},
	{"rank", 'r', OPTION_LIST, FIELD(ranks), "LIST",
	 .help = "Report only these ranks: 0,2,5-8; with several jobs also 1:3 (job 1, rank 3). "
		 "Cores are reported whole."},
	{"threads", 't', OPTION_FLAG, FIELD(threads),
	 .help = "Report each thread that computes or calls MPI; with --all each thread."},
	{"top", 'n', OPTION_U64, FIELD(top), "N", .dflt = REPORT_TOP, .max = 1000000,
	 .help = "Rows of long tables: functions, call sites, and ranks or cores if there are "
		 "many; 0 for all."},
	{"min", 0, OPTION_U64, FIELD(min), "PERCENT", .dflt = REPORT_MIN_PCT, .max = 100,
	 .help = "Show only causes whose repair may save at least this share of the run."},
	{"sort", 's', OPTION_CHOICE, FIELD(sort), "KEY", .dflt = "rank", .choices = sort_keys,
	 .help = "Order of the ranks: by number, or largest share of a kind of time first."},
	{"section", 0, OPTION_STRING, FIELD(section), "SECTION",
	 .help = "Print the time of a section of the program instead, from the ranks' and from the "
		 "cores' point of view. SECTION is the name of a phase (MPI_Pcontrol) or of a "
		 "region; or FROM..TO: from the return of one call to that of another, such as "
		 "MPI_Barrier#2..MPI_Barrier#3 (each thread's second and third), or from a time "
		 "since the recording's start to another, such as 1.5..2 (seconds)."},
	{"offset", 0, OPTION_LIST, FIELD(offsets), SOURCES_OFFSET_ARG, .help = SOURCES_OFFSET_HELP},
	{"one-run", 0, OPTION_FLAG, FIELD(one_run), .help = SOURCES_ONE_RUN_HELP},
	{0},
};

static const char *const report_examples[] = {
	"povtrace report run.pov",
	"How efficient the run was, where the ranks' time went, why, and what to do.",
	"povtrace report --findings --times run.pov",
	"The evidence: what ranks lost by waiting and for whom; what each main thread did; who "
	"took the cores.",
	"povtrace report --functions --messages run.pov",
	"What was called, and who sent how much to whom.",
	"povtrace report --rank 0,4-7 --threads run.pov",
	"Some ranks in detail.",
	"povtrace report --cores --sort polling --top 5 run.pov",
	"Where all threads' time went, what cores ran, and which ranks poll most.",
	"povtrace report --section MPI_Init..MPI_Finalize run.pov",
	"How long ranks, and cores for them, ran between these calls.",
	"povtrace report --json run.pov | jq '.ranks[].mpi_ns'",
	"The figures as JSON, for scripts.",
	"povtrace report --json-schema | jq '.\"$defs\".reason'",
	"What members a cause in the JSON has, with their types.",
	"povtrace report run.pov -o report.html",
	"All of it as one page for a browser, with ranks by time.",
	"povtrace report node1.pov node2.pov",
	"A job on two nodes, recorded on each of them.",
	"povtrace report --scaling -o scaling.svg ranks2.pov ranks4.pov ranks8.pov",
	"How well a program uses more ranks, and which efficiency falls.",
	NULL,
};

const struct command cmd_report = {
	.name = "report",
	.brief = "Print where ranks' time went, why, and what to do.",
	.usage = "[options] FILE ... | --scaling FILE ... [-- FILE ...] ... | --json-schema",
	.details =
		"Reads a recording once and prints one screen. \"Efficiency\" is the share of all "
		"rank time, between MPI_Init and MPI_Finalize, that was computing, with the "
		"factors that POP defines, and the share of time outside MPI on a core. Below it, "
		"each nanosecond of that time has one class. \"Why, and what to do\" has the "
		"causes of the loss: each loss once, at its root, whoever waited; what it cost all "
		"ranks together; how much shorter the run would be without it (a range: the run "
		"was replayed; ≤: a limit; –: unknown); what shows it; and what to do. "
		"kmod-docs/REPORT.md explains all of it.\n\n"
		"With -o FILE.html it writes a page for a browser: the same, ranks by time, who "
		"waited for whom, messages and call sites. The page refers to nothing outside "
		"itself. Causes and waits have the commands that draw their moments.\n\n"
		"Options print details instead: the evidence by rules, functions with the "
		"distribution of their durations, collectives, messages, threads, cores, and what "
		"could not be seen; --all is everything.\n\n"
		"Times of a rank are sums over its threads. A thread is running (on a CPU), "
		"runnable (it wants a CPU and has none), blocked (it sleeps) or, where records are "
		"missing, unknown; these add up to its life. MPI time is spent in outermost calls, "
		"polls that found nothing by the sum of their durations. Polling is running inside "
		"a call that waits, or inside a poll that found nothing.\n\n"
		"Where records are missing, figures are marked: ≥ (at least that) or ~ (may be "
		"wrong in either direction). If tracing cost more than 5 % of any rank's wall "
		"time, the report starts with a warning. Needs no privilege and works on any "
		"machine.\n\n"
		"Several files are recordings of one job on several hosts. They are read together; "
		"their times are related by the messages that the hosts sent each other or, if "
		"these went one way only, by each host's time of day at the start and end of its "
		"recording.",
	.examples = report_examples,
	.options = report_options_table,
	.options_bytes = sizeof(struct report_args),
	.run = report_run,
};
