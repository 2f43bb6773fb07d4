/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Options and help of povtrace hang. */
#include "lib/option.h"
#include "cmd/recording/options.h"
#include "report/report.h"

#define FIELD(name) offsetof(struct hang_options, name)
static const struct option_def options[] = {
	{"pid", 'p', OPTION_LIST, FIELD(pids), "PID",
	 .help = "A process of the job (its launcher or a rank) with all processes that it "
		 "started. Several are separated by commas."},
	{"duration", 'd', OPTION_SECONDS, FIELD(duration_ns), "SECONDS", .dflt = "1",
	 .help = "How long to watch whether ranks make progress."},
	{"json", 'j', OPTION_FLAG, FIELD(json),
	 .help = "Write the report as JSON (kmod-docs/REPORT_JSON.md); its member at_end has the "
		 "answer."},
	{"explain", 'e', OPTION_FLAG, FIELD(explain),
	 .help = "Print an explanation of the columns below the table."},
	{"top", 'n', OPTION_U64, FIELD(top), "N", .dflt = REPORT_TOP, .max = 1000000,
	 .help = "Number of groups of ranks to print; 0 for all."},
	{.name = NULL},
};

static const char *const examples[] = {
	"sudo povtrace hang -p $(pgrep mpirun)",
	"Where each rank of a job is, whom it waits for there, and whether it can go on.",
	"sudo povtrace hang -d 10 -p $(pgrep mpirun)",
	"The same, watching for ten seconds whether anything makes progress.",
	"sudo povtrace hang --json -p $(pgrep mpirun) | jq .at_end",
	"The answer as JSON, for scripts.",
	NULL,
};

const struct command cmd_hang = {
	.name = "hang",
	.brief = "Print where the ranks of a running job wait, and for whom.",
	.usage = "[options] -p PID ...",
	.details =
		"Records a job for a second and prints one line for each group of ranks in the "
		"same state: the MPI call, where it was called, what it waits for, since when, and "
		"whether it is on a core or asleep. Below, sentences name who has not entered a "
		"collective call, which message nobody has sent, and which ranks wait for each "
		"other. Those with \"!\" are certain; the others state what was seen.\n\n"
		"Calls that began earlier are found by the return addresses on the threads' "
		"stacks, with their arguments as far as the library has kept them. What ranks did "
		"before is unknown: which messages are missing, and how many collective calls each "
		"has made. A recording of the job from its start knows that: `povtrace record -d "
		"60 -- COMMAND`, and then `povtrace report --hang`.\n\n"
		"No process is stopped, and no system call of it is interrupted. Probes are put "
		"into the library for that second and then removed. A job that `povtrace record` "
		"has launched, and whose processes record their own calls, is refused: end that "
		"recording (Ctrl-C) and read it.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct hang_options),
	.run = hang_command_run,
};
