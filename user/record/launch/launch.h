/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Starts the command to be traced, as a child that waits at a gate until the probes are live. What may take time or fail
 * (the user, the environment, where the program is) is found out before: the child makes system calls only.
 */
#ifndef POV_RECORD_LAUNCH_LAUNCH_H
#define POV_RECORD_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct person;

struct launch_plan {
	char *const *argv;	 /* ends with NULL; not owned */
	const struct person *as; /* NULL: the caller's own user; not owned */
	char *program;		 /* its path; owned, as is the next */
	char **envp;
};

/*
 * Finds the program as that user would, and makes the environment: with `behind` (whoever ran sudo) that of the shell
 * where sudo was typed, else the caller's with the user's name and home. 0 or -errno (printed).
 */
int launch_plan_make(char *const *argv, const struct person *as, bool behind,
		     struct launch_plan *out);
void launch_plan_release(struct launch_plan *plan);

struct launch {
	pid_t pid;
	int gate_fd;  /* writing opens the gate; -1 afterwards */
	int error_fd; /* tells errno if the program cannot be executed; -1 once that is known */
};

/* 0 or -errno (printed). */
int launch_start(const struct launch_plan *plan, struct launch *out);
/* Lets the child execute its program. As launch_executed. */
int launch_open_gate(struct launch *l, const struct launch_plan *plan);
/*
 * 1: the child is not that far yet; ask again later. 0: it runs its program. -errno (printed): it could not; the child
 * is gone.
 */
int launch_executed(struct launch *l, const struct launch_plan *plan, int timeout_ms);
/* Kills a child that does not run its program yet. */
void launch_cancel(struct launch *l);
/* waitpid that gives up after a time: whether the child's end is in *status now. */
bool launch_reap(pid_t pid, int timeout_ms, int *status);

#endif
