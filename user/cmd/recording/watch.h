/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Code shared by all commands that watch processes: the choice of processes, the command to run and
 * its user, the signals that end the watching, and the command's exit status.
 */
#ifndef POV_CMD_RECORDING_WATCH_H
#define POV_CMD_RECORDING_WATCH_H

#include "record/launch/launch.h"
#include "lib/option.h"

struct watch {
	pid_t *pids; /* owned, like all members that follow */
	size_t pid_cnt;
	struct person *behind;	    /* the user who ran sudo, or NULL */
	struct person *named;	    /* the user given by --user, or NULL */
	struct launch_plan plan;    /* program is NULL if there is no command */
	const struct person *owner; /* of all files written: one of the two; NULL: our own user */
};

/*
 * Does all lookups that may take time or hang on a server. Call it before signals are caught. user
 * may be NULL. argv is the command to run (argc 0: none) and must outlive the watch. 0, or the exit
 * status (printed).
 */
int watch_prepare(const struct option_list *pids, const char *user, int argc, char **argv,
		  struct watch *out);
void watch_release(struct watch *w);

/*
 * From this call on, Ctrl-C, SIGTERM and SIGHUP set the returned flag instead of ending the
 * process.
 */
const volatile int *watch_signals(void);
/* From this call on, each SIGUSR1 increments the returned counter. */
const volatile int *watch_requests(void);
/*
 * Waits a moment for the command, which the Ctrl-C that stopped us may also be ending. Returns true
 * if it has ended, with its status in *status.
 */
bool watch_reap(pid_t pid, int *status);
/*
 * Converts a status from waitpid to an exit status, and prints it if it is not 0. Returns 0 for -1.
 */
int watch_status(int child_status);

#endif
