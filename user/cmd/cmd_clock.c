/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Options and help of povtrace clock. */
#include "lib/option.h"
#include "cmd/recording/options.h"

#define FIELD(name) offsetof(struct clock_command_options, name)
static const struct option_def options[] = {
	{"pid", 'p', OPTION_LIST, FIELD(pids), "PID",
	 .help = "Keep the times of a running process, its threads and its children; a launcher's "
		 "PID covers its ranks. Several are separated by commas."},
	{"all", 'a', OPTION_FLAG, FIELD(all),
	 .help = "Keep the times of all MPI processes of the node, and of every process that uses "
		 "libpov, as a service does. Each process can read only its own times."},
	{"interval", 'i', OPTION_SECONDS, FIELD(interval_ns), "SECONDS",
	 .help = "Time between tables. If not given: one second; with -- COMMAND one table at "
		 "its end."},
	{"once", '1', OPTION_FLAG, FIELD(once),
	 .help = "Print one table after the interval, and exit."},
	{"json", 'j', OPTION_FLAG, FIELD(json), .help = "Print each table as a line of JSON."},
	{"quiet", 'q', OPTION_FLAG, FIELD(quiet), .help = "Print no table; only serve."},
	{"duration", 'd', OPTION_SECONDS, FIELD(duration_ns), "SECONDS",
	 .help = "Exit after this time. The processes keep running; libpov then uses the "
		 "kernel's CPU time."},
	{"cost", 0, OPTION_FLAG, FIELD(cost),
	 .help = "Measure how long the work at each context switch takes, and print the "
		 "distribution at the end. This adds four clock readings to each switch; the "
		 "measured times include one of them (shown alone in the last line)."},
	{"output", 'o', OPTION_STRING, FIELD(output), "FILE",
	 .help = "With --cost: also write the distributions to FILE, for povplot."},
	{"socket", 0, OPTION_STRING, FIELD(socket), "PATH",
	 .help = "Socket at which libpov finds the times. If not given: " CLOCK_SOCKET_USUAL
		 "; with -- COMMAND a socket for this run, whose path is in " CLOCK_SOCKET_VARIABLE
		 ". Only root may write to its directory."},
	{"user", 'u', OPTION_STRING, FIELD(user), "NAME",
	 .help = "Run COMMAND as this user. If not given: as the user who ran sudo, in the "
		 "environment of the shell where sudo was typed."},
	{.name = NULL},
};

static const char *const examples[] = {
	"sudo povtrace clock -- mpirun -np 4 ./app",
	"run a job; its ranks may call MPIX_Rtime, and a table at the end shows how long each was "
	"running",
	"sudo povtrace clock -p $(pgrep mpirun)",
	"print a table of a running job every second, like top",
	"sudo povtrace clock --all --once --json",
	"print what each MPI process of the node did in one second, as JSON",
	"sudo povtrace clock --all --quiet",
	"serve all users of libpov, as the systemd unit does",
	NULL,
};

const struct command cmd_clock = {
	.name = "clock",
	.brief = "Keep each rank's running time, for the rank itself and as a table.",
	.usage = "[options] -- COMMAND [ARG ...] | -p PID ... | --all",
	.details =
		"Rank-POV time is the time that a rank's threads were on a CPU, summed over the "
		"threads; runnable is the time that they waited for a CPU. Both count from when "
		"povtrace first saw the process (for -- COMMAND: from its first instruction). % "
		"wall is rank-POV time divided by the time since then, so two threads may have "
		"200. core is the CPU of a thread now or when it last ran; preempted and migrated "
		"count how often a thread lost its core and moved to another one.\n\n"
		"A program reads its own times with libpov (pov.h, MPIX_Rtime and MPIX_Ptime of "
		"Nigay et al. 2020), without a system call. For an unmodified program, "
		"LD_PRELOAD=libpov-wtime.so makes MPI_Wtime return the rank's running time.\n\n"
		"With -- COMMAND the table goes to stderr, so that COMMAND's own output stays as "
		"it is, and the exit status is COMMAND's.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct clock_command_options),
	.run = clock_command_run,
};
