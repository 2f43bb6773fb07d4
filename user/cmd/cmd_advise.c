/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace advise prints settings that would have made a recorded run shorter. This file has only
 * the options; the strategies are in advise/.
 */
#include <stdlib.h>
#include <string.h>

#include "advise/advise.h"
#include "lib/log.h"
#include "lib/progress.h"
#include "lib/option.h"
#include "cmd/sources.h"
#include "trace/trace_limit.h"
#include "trace/trace_join.h"

#define FIELD(name) offsetof(struct advise_args, name)

struct advise_args {
	bool json, no_ask, one_run;
	struct option_list only, measured, offsets;
};

static bool strategy_exists(const char *name)
{
	for (size_t i = 0; strategies[i]; i++) {
		if (!strcmp(strategies[i]->name, name))
			return true;
	}
	log_error("advise: no strategy is called \"%s\"; these exist:", name);
	for (size_t i = 0; strategies[i]; i++)
		log_error("  %-12s %s", strategies[i]->name, strategies[i]->brief);
	return false;
}

static int advise_print(const struct trace_source *source, size_t cnt,
			const struct advise_options *opt, bool json)
{
	struct advise a;
	int err;

	trace_sources_progress(source, cnt, 0, 1);
	err = advise_open(source, cnt, opt, &a);
	progress_end();
	if (err)
		return err;
	if (json)
		err = advise_json(&a, stdout);
	else
		advise_text(&a, stdout);
	if (err)
		log_error("advise: cannot write: %s", log_unwritten(-err));
	advise_close(&a);
	return err;
}

static int advise_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct advise_args *o = opts;
	const struct advise_options opt = {
		.measured = o->measured.item,
		.nmeasured = o->measured.cnt,
		.only = o->only.item,
		.nonly = o->only.cnt,
		.ask_library = !o->no_ask,
	};
	struct trace_source *source;
	int err;

	if (argc < 1) {
		log_error("advise: give a trace file; see `povtrace help advise`");
		return 2;
	}
	for (size_t i = 0; i < o->only.cnt; i++) {
		if (!strategy_exists(o->only.item[i]))
			return 2;
	}
	source = sources_parse(argv, argc, &o->offsets, o->one_run);
	if (!source)
		return 2;
	trace_limit_memory(argv, argc);
	err = advise_print(source, (size_t)argc, &opt, o->json);
	free(source);
	return err ? 1 : 0;
}

static void strategy_words(FILE *out)
{
	for (size_t i = 0; strategies[i]; i++)
		fprintf(out, "%s%s", i ? ", " : "", strategies[i]->name);
}

static const struct option_def options[] = {
	{"json", 'j', OPTION_FLAG, FIELD(json),
	 .help = "Write JSON; its members are described in kmod-docs/ADVISE.md, among the sources "
		 "and in share/doc/povtrace."},
	{"only", 0, OPTION_LIST, FIELD(only), "STRATEGY", .words = strategy_words,
	 .help = "Use only this strategy, and print no causes. May be given several times."},
	{"measured", 'm', OPTION_LIST, FIELD(measured), "FILE",
	 .help = "Results of povbench for the same library on this machine, for comparing a "
		 "collective's algorithms (`povbench-algorithms` writes them). May be "
		 "given several times."},
	{"no-ask", 0, OPTION_FLAG, FIELD(no_ask),
	 .help = "Do not start a program with the recorded MPI library to read its settings "
		 "(MPI_T); use those in the recording."},
	{"offset", 0, OPTION_LIST, FIELD(offsets), SOURCES_OFFSET_ARG, .help = SOURCES_OFFSET_HELP},
	{"one-run", 0, OPTION_FLAG, FIELD(one_run), .help = SOURCES_ONE_RUN_HELP},
	{.name = NULL},
};

static const char *const examples[] = {
	"povtrace advise run.pov",
	"what to set, what it is expected to gain, and what it may cost",
	"povtrace advise --only threshold --json run.pov",
	"one strategy, with its evidence, for programs",
	"povtrace advise --measured algorithms.json run.pov",
	"with the library's collective algorithms as povbench measured them here",
	NULL,
};

const struct command cmd_advise = {
	.name = "advise",
	.brief = "Print settings that would have made a run shorter, and by how much.",
	.usage = "[options] FILE ...",
	.details =
		"Prints first the causes on the first screen of `povtrace report` that a setting "
		"removes, with the same numbers and sentences: how ranks are bound, how many "
		"threads or ranks to start, which variable to set. Then it prints the advice of "
		"its strategies, each for one kind of setting: the size up to which messages are "
		"sent at once, places of ranks, threads that wait busily, progress while the "
		"program computes, and algorithms of collectives. Each prints the setting in the "
		"syntax of the library and launcher used, what it is expected to gain, and what it "
		"may cost. If neither has anything, it prints the largest causes, with what to "
		"change in the program.\n\n"
		"The gain is an interval in seconds of the whole run. The recorded run is replayed "
		"without the waits that the setting would remove; who waited for whom stays as it "
		"was, and each rank's computation takes the time that it took. A strategy advises "
		"only what is sure to gain 1 % of the run; the others are listed with the reason "
		"why they advise nothing.\n\n"
		"Needs no privilege. If the recorded library is installed here, its settings are "
		"read through MPI_T.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct advise_args),
	.run = advise_run,
};
