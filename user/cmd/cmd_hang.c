/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace hang prints where the ranks of a running job are, and for whom they wait. It makes a
 * short recording for this. Calls that began before it are found on the threads' stacks
 * (record/session_stack.c).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "abi/config.h"
#include "lib/log.h"
#include "lib/own_state.h"
#include "cmd/commands.h"
#include "cmd/record.h"
#include "cmd/record_temporary.h"
#include "report/report.h"

struct hang_options {
	struct option_list pids;
	uint64_t duration_ns, top;
	bool json, explain;
};

#define FIELD(name) offsetof(struct hang_options, name)
static const struct option_def options[] = {
	{"pid", 'p', OPTION_LIST, FIELD(pids), "PID",
	 .help = "A process of the job (its launcher or a rank) with all processes that it "
		 "started. May be given several times."},
	{"duration", 'd', OPTION_SECONDS, FIELD(duration_ns), "SECONDS", .dflt = "1",
	 .help = "How long to watch whether ranks make progress."},
	{"json", 'j', OPTION_FLAG, FIELD(json),
	 .help = "Write the report as JSON (kmod-docs/REPORT_JSON.md); its member at_end has the "
		 "answer."},
	{"explain", 'e', OPTION_FLAG, FIELD(explain),
	 .help = "Explain the columns below the table."},
	{"top", 'n', OPTION_U64, FIELD(top), "N", .dflt = REPORT_TOP, .max = 1000000,
	 .help = "Number of groups of ranks to print; 0 for all."},
	{.name = NULL},
};

static int report_print(const struct hang_options *o, int fd)
{
	const struct report_options opt = {
		.explain = o->explain, .top = (uint32_t)o->top, .details = DETAIL_HANG};
	char path[64];
	const struct trace_source source = {.path = path, .temporary = true};
	struct report r;
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = report_open(&source, 1, &opt, &r);
	if (err)
		return err;
	if (o->json)
		err = report_json(&r, stdout);
	else
		report_text(&r, stdout);
	report_close(&r);
	if (err)
		log_error("hang: cannot write: %s", log_unwritten(-err));
	return err;
}

static int job_look(const struct hang_options *o, const struct record_options *ro, char **argv)
{
	struct recording r;
	const char *dir;
	int status, fd;

	status = record_prepare("hang", ro, 0, argv, 0, &r);
	if (status)
		return status;
	fd = record_temporary_open("hang", &dir);
	status = fd < 0 || record_run(&r, "a temporary file", fd) ? 1 : 0;
	own_signal_give_back(SIGINT);
	own_signal_give_back(SIGTERM);
	if (!status && report_print(o, fd))
		status = 1;
	if (fd >= 0)
		close(fd);
	record_release(&r);
	return status;
}

static int hang_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct hang_options *o = opts;
	const struct record_options ro = {
		.pids = o->pids,
		.max_overhead = "auto",
		.sched = POV_SCHED_RANKS,
		.duration_ns = o->duration_ns,
		.spin_gap_ns = 1000000,
	};

	(void)dashdash;
	if (argc || !o->pids.cnt) {
		log_error("hang: give -p PID of a running job; see `povtrace help hang`");
		return 2;
	}
	return job_look(o, &ro, argv);
}

static const char *const examples[] = {
	"sudo povtrace hang -p $(pgrep mpirun)",
	"Where each rank of a job is, whom it waits for there, and whether it can go on.",
	"sudo povtrace hang -d 10 -p $(pgrep mpirun)",
	"The same, watching for ten seconds whether anything makes progress.",
	"sudo povtrace hang --json -p $(pgrep mpirun) | jq .at_end",
	"For programs.",
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
	.run = hang_run,
};
