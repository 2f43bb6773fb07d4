/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace diff prints what changed from one run to another. This file has only the options;
 * report/compare.h puts the two reports' numbers side by side.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/progress.h"
#include "lib/option.h"
#include "report/compare.h"
#include "report/report.h"
#include "cmd/sources.h"
#include "trace/trace_limit.h"
#include "trace/trace_join.h"

struct diff_options {
	bool json, json_schema, one_run;
	struct option_list ranks;
	uint64_t top;
};

static int diff_print(const struct trace_source *const source[2], const size_t cnt[2],
		      const struct rank_list *ranks, const struct diff_options *o)
{
	struct compare c;
	int err;

	trace_sources_progress(source[0], cnt[0], cnt[1] > 1, 2);
	err = compare_open(source, cnt, ranks, &c);
	progress_end();
	if (err)
		return err;
	if (o->json)
		err = compare_json(&c, stdout);
	else
		compare_text(&c, (uint32_t)o->top, stdout);
	if (err)
		log_error("diff: cannot write: %s", log_unwritten(-err));
	compare_close(&c);
	return err;
}

/* Returns the index of the second run's first file, or -1 if the arguments are not two runs. */
static int runs_split(int argc, int dashdash)
{
	if (dashdash > 0 && dashdash < argc)
		return dashdash;
	return dashdash < 0 && argc == 2 ? 1 : -1;
}

static int schema_run(int argc)
{
	if (argc) {
		log_error("diff: --json-schema takes no file");
		return 2;
	}
	return schema_print("diff", stdout) ? 1 : 0;
}

static int diff_run(const void *opts, int argc, char **argv, int dashdash)
{
	static const struct option_list no_offsets;
	const struct diff_options *o = opts;
	int second = runs_split(argc, dashdash), err = 0, status = 2;
	const size_t cnt[2] = {(size_t)second, (size_t)(argc - second)};
	struct trace_source *source[2] = {NULL, NULL};
	struct rank_list ranks = {0};

	if (o->json_schema)
		return schema_run(argc);
	if (second < 0) {
		log_error("diff: give two runs: FILE FILE, or FILE ... -- FILE ...; see `povtrace "
			  "help diff`");
		return 2;
	}
	for (size_t i = 0; i < o->ranks.cnt && !err; i++)
		err = rank_list_parse(o->ranks.item[i], &ranks);
	for (int run = 0; run < 2 && !err; run++) {
		source[run] = sources_parse(argv + (run ? second : 0), (int)cnt[run], &no_offsets,
					    o->one_run);
		err = !source[run];
	}
	if (!err) {
		trace_limit_memory(argv, argc);
		status = diff_print((const struct trace_source *const *)source, cnt, &ranks, o) ?
				 1 :
				 0;
	}
	free(source[0]);
	free(source[1]);
	rank_list_release(&ranks);
	return status;
}

#define FIELD(name) offsetof(struct diff_options, name)
static const struct option_def options[] = {
	{"json", 'j', OPTION_FLAG, FIELD(json),
	 .help = "Write JSON; its members are described in kmod-docs/DIFF.md, among the sources "
		 "and in share/doc/povtrace."},
	{"json-schema", 0, OPTION_FLAG, FIELD(json_schema),
	 .help = "Print the JSON Schema of what --json writes, and read no FILE."},
	{"rank", 'r', OPTION_LIST, FIELD(ranks), "LIST",
	 .help = "Compare these ranks only: 0,2,5-8; with several jobs also 1:3 (job 1, rank 3)."},
	{"one-run", 0, OPTION_FLAG, FIELD(one_run), .help = SOURCES_ONE_RUN_HELP},
	{"top", 'n', OPTION_U64, FIELD(top), "N", .dflt = "6", .max = 1000000,
	 .help = "Rows of long tables: those that changed most; 0 for all."},
	{.name = NULL},
};

static const char *const examples[] = {
	"povtrace diff before.pov after.pov",
	"what changed: times, findings, ranks, functions, messages",
	"povtrace diff --rank 0,4-7 --top 0 before.pov after.pov",
	"some ranks, and every function",
	"povtrace diff --json before.pov after.pov | jq '.all.change.mpi_ns'",
	"for programs",
	"povtrace diff a1.pov a2.pov -- b1.pov b2.pov",
	"two runs of a job on two nodes, each recorded on both",
	NULL,
};

const struct command cmd_diff = {
	.name = "diff",
	.brief = "Print what changed from one run to another.",
	.usage = "[options] BEFORE AFTER | BEFORE ... -- AFTER ... | --json-schema",
	.details =
		"Reads two runs and compares what `povtrace report` prints for each: efficiencies, "
		"the times of all ranks together, what ranks lost by waiting (by kind of finding), "
		"the times of each rank, calls and time of each function, and what was sent. Each "
		"table lists the largest changes first. Ranks are matched by job and rank; ranks "
		"that only one run has are left out everywhere, with a note.\n\n"
		"Where records are missing, figures are marked: ≥ (at least that) or ~ (may be "
		"wrong in either direction); a change is marked ~ if either of its two figures is. "
		"Two runs of the same program differ, too: compare several before you trust a "
		"small change. Needs no privilege and works on any machine.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct diff_options),
	.run = diff_run,
};
