/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What commands that watch processes have in common: which ones, the command that is to be run and as whom, the signals that end the
 * watching, and the command's exit status.
 */
#ifndef POV_CMD_WATCH_H
#define POV_CMD_WATCH_H

#include "record/launch/launch.h"
#include "lib/option.h"

struct watch {
	pid_t *pids; /* owned, as is all that follows */
	size_t pid_cnt;
	struct person *behind, *named; /* ran sudo; by --user */
	struct launch_plan plan;       /* program is NULL if nothing is to be run */
	const struct person
		*owner; /* of all files that are written: one of these; NULL: whoever runs this */
};

/*
 * Finds out all that may take time or ask servers that do not answer: before signals are caught. 0, or the command's exit
 * status (printed). user may be NULL. argv is of what is to be run (argc 0: nothing), and must outlive the watch.
 */
int watch_prepare(const struct option_list *pids, const char *user, int argc, char **argv,
		  struct watch *out);
void watch_release(struct watch *w);

/* From here on Ctrl-C, SIGTERM and SIGHUP do not end the process, but set what is returned. */
const volatile int *watch_signals(void);
/* From here on SIGUSR1 counts up what is returned. */
const volatile int *watch_requests(void);
/* Waits for a command that may be ending by the Ctrl-C that stopped us: whether its end is in *status now. */
bool watch_reap(pid_t pid, int *status);
/* The exit status of a command by what waitpid told, said if it is not 0; 0 for -1. */
int watch_status(int child_status);

#endif
