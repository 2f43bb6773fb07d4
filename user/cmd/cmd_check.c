/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Options and help of povtrace check. */
#include "lib/option.h"
#include "cmd/recording/options.h"

#define FIELD(name) offsetof(struct check_options, name)
static const struct option_def options[] = {
	{"sites", 's', OPTION_STRING, FIELD(sites), "LIB",
	 .help = "List each MPI function of a library or program with its first instruction, the "
		 "probe site chosen, and the reason."},
	{"json", 0, OPTION_FLAG, FIELD(json), .help = "Print JSON."},
	{.name = NULL},
};

static const char *const examples[] = {
	"sudo povtrace check",
	"what this kernel allows, and what follows",
	"povtrace check --sites /usr/lib/x86_64-linux-gnu/libmpi.so.40",
	"where Open MPI would be probed",
	"povtrace check --sites ./app",
	"a program with MPI linked into it",
	NULL,
};

const struct command cmd_check = {
	.name = "check",
	.brief = "Show what this kernel and host allow.",
	.usage = "[options]",
	.details =
		"Tries each kernel feature that a recording uses and prints the result and its "
		"consequence: \"ok\", \"less\" (recording works, something is lost), \"NO\", or "
		"\"?\" (only root can find out). The exit status is 1 if no recording is possible, "
		"for this user or at all. Then lists the libraries in /usr/lib, /usr/lib64 and the "
		"same folders of /usr/local whose functions can be recorded. Changes nothing.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct check_options),
	.run = check_command_run,
};
