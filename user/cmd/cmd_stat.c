/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Options and help of povtrace stat. */
#include "lib/option.h"
#include "cmd/recording/options.h"
#include "report/report.h"

#define FIELD(name) offsetof(struct stat_options, name)
static const struct option_def options[] = {
	{"output", 'o', OPTION_STRING, FIELD(output), "FILE",
	 .help = "Write the report to FILE instead of stderr; - is stdout, where it follows "
		 "what COMMAND wrote."},
	{"json", 'j', OPTION_FLAG, FIELD(json),
	 .help = "Write the report as JSON (kmod-docs/REPORT_JSON.md); needs --output, because "
		 "warnings go to stderr."},
	{"explain", 'e', OPTION_FLAG, FIELD(explain),
	 .help = "Print an explanation of the columns below each table."},
	{"top", 'n', OPTION_U64, FIELD(top), "N", .dflt = REPORT_TOP, .max = 1000000,
	 .help = "Rows of long tables; 0 for all."},
	{"min", 0, OPTION_U64, FIELD(min), "PERCENT", .dflt = REPORT_MIN_PCT, .max = 100,
	 .help = "Show only causes whose repair may save at least this share of the run."},
	{.name = NULL},
};

static const char *const examples[] = {
	"sudo povtrace stat -- mpirun -np 2 ./app",
	"where the ranks' time went, why, and what to do, once the job has ended",
	"sudo povtrace stat -d 10 -p $(pgrep mpirun)",
	"the same of ten seconds of a job that runs already, and goes on",
	"sudo povtrace stat -o before.txt --mpi p2p,coll -- mpirun -np 2 ./app",
	"only point-to-point and collective calls, and the report in a file",
	"sudo povtrace stat --json -o run.json -- mpirun -np 2 ./app",
	"for programs",
	NULL,
};

const struct command cmd_stat = {
	.name = "stat",
	.brief = "Record a job and print the report; keep no trace.",
	.usage = "[options] -- COMMAND [ARG ...] | -p PID ... | --all",
	.details =
		"Records as `povtrace record` does, with the same options, and then prints the "
		"first screen of `povtrace report`. The recording is not kept: it is in a file "
		"without a name in TMPDIR (if that is not set, in /var/tmp), which disappears "
		"however povtrace ends. For more details, timelines, or a comparison with another "
		"run, use `povtrace record`.\n\n"
		"The report goes to stderr, so that COMMAND's own output stays as it is, or to "
		"--output. Ctrl-C ends the recording, and the report covers what was recorded "
		"until then. The exit status is the command's, or 1 if recording failed, or the "
		"report could not be written.\n\n"
		"Under sudo the command runs as the user who typed it, in the environment of that "
		"user's shell, and --output is written with that user's rights and belongs to that "
		"user; --user root runs and writes as root.",
	.examples = examples,
	.options = options,
	.shared = record_option_rows,
	.options_bytes = sizeof(struct stat_options),
	.run = stat_command_run,
};
