/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Starts the command to be traced, as a child that waits at a gate until the probes are live.
 */
#ifndef POV_ATTACH_LAUNCH_H
#define POV_ATTACH_LAUNCH_H

#include <sys/types.h>

struct launch {
	pid_t pid;
	int gate_fd;  /* writing opens the gate */
	int error_fd; /* tells errno if the program cannot be executed */
};

/* user: run it as this user, or NULL for the caller's own. argv ends with NULL. 0 or -errno (printed). */
int launch_start(char *const *argv, const char *user, struct launch *out);
/* Lets the child execute its program. 0, or -errno (printed) if that failed; the child is gone then. */
int launch_open_gate(struct launch *l, const char *program);
/* Kills a child that still waits at the gate. */
void launch_cancel(struct launch *l);

#endif
