/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Starts the traced command as a child that waits at a gate until the probes are live. All that may
 * take time or fail (the user, the environment, the program's path) is found beforehand: the child
 * only makes system calls.
 */
#ifndef POV_RECORD_LAUNCH_LAUNCH_H
#define POV_RECORD_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct person;

struct launch_plan {
	char *const *argv;	 /* ends with NULL; not owned */
	const struct person *as; /* NULL: the caller's own user; not owned */
	char *program;		 /* its path; owned */
	char **envp;		 /* owned */
};

/*
 * Finds the program as that user would, and makes the environment. behind: the environment of the
 * shell where the user (who ran sudo) typed the command; else our own with the user's name and
 * home. 0 or -errno (printed).
 */
int launch_plan_make(char *const *argv, const struct person *as, bool behind,
		     struct launch_plan *out);
void launch_plan_release(struct launch_plan *plan);

struct launch {
	pid_t pid;
	int gate_fd; /* a write opens the gate; -1 afterwards */
	/* delivers errno if the program cannot be executed; -1 once the result is known */
	int error_fd;
};

/* Starts the child. 0 or -errno (printed). */
int launch_start(const struct launch_plan *plan, struct launch *out);
/* Lets the child execute its program. Returns like launch_executed. */
int launch_open_gate(struct launch *l, const struct launch_plan *plan);
/*
 * Checks whether the child runs its program. 1: not yet, ask again later. 0: it does. -errno
 * (printed): it could not, and the child is gone.
 */
int launch_executed(struct launch *l, const struct launch_plan *plan, int timeout_ms);
/* Kills a child that has not executed its program yet. */
void launch_cancel(struct launch *l);
/*
 * Like waitpid with a time limit. Returns true if the child has ended, with its status in *status.
 */
bool launch_reap(pid_t pid, int timeout_ms, int *status);

/* ---- the command's environment ---- */

/*
 * Returns a NULL-terminated environment, which launch_env_free frees. If `as` is NULL, it is
 * povtrace's. With `behind` it is that of the shell that called sudo, plus what was added since;
 * its PATH comes first. Otherwise, and if that cannot be read, it is povtrace's with the user's
 * name and home.
 */
char **launch_env_make(const struct person *as, bool behind);
void launch_env_free(char **envp);
/* Returns the value of a variable, or NULL. */
const char *launch_env_get(char *const *envp, const char *name);
/* Returns a copy in which a variable has this value (NULL: none); launch_env_free frees it. */
char **launch_env_with(char *const *envp, const char *name, const char *value);

/* Merges "A=1\0B=2\0" and our own environment into the command's; for tests. */
char **launch_env_merge(const char *theirs, size_t bytes, char *const *ours,
			const struct person *as);

#endif
