/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace hang prints where the ranks of a running job are, and for whom they wait. It makes a
 * short recording for this. Calls that began before it are found on the threads' stacks
 * (record/session_stack.c).
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "abi/config.h"
#include "lib/log.h"
#include "lib/own_state.h"
#include "cmd/recording/recording_common.h"
#include "report/report.h"

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

int hang_command_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct hang_options *o = opts;
	const struct record_options ro = {
		.pids = o->pids,
		.max_overhead = "auto",
		.sched = POV_SCHED_RANKS,
		.duration_ns = o->duration_ns,
		.spin_gap_ns = 1000000,
	};

	if (argc || !o->pids.cnt) {
		log_error("hang: give -p PID of a running job; see `povtrace help hang`");
		return 2;
	}
	return job_look(o, &ro, argv);
}
