/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The environment of a launched command. sudo gives its command a cleaned one (no LD_LIBRARY_PATH,
 * its own PATH), but users who type "sudo povtrace record -- mpirun …" expect their shell's mpirun
 * and libraries.
 */
#ifndef POV_RECORD_LAUNCH_LAUNCH_ENV_H
#define POV_RECORD_LAUNCH_LAUNCH_ENV_H

#include <stdbool.h>
#include <stddef.h>

struct person;

/*
 * Returns a NULL-terminated environment, which launch_env_free frees. as NULL: our own. behind:
 * that of the shell where sudo was typed, plus what was added since; its PATH comes first. If that
 * cannot be read, or without behind: our own with the user's name and home.
 */
char **launch_env_make(const struct person *as, bool behind);
void launch_env_free(char **envp);
/* Returns the value of a variable, or NULL. */
const char *launch_env_get(char *const *envp, const char *name);
/* Returns a copy in which a variable has this value; launch_env_free frees it. */
char **launch_env_with(char *const *envp, const char *name, const char *value);

/* Merges "A=1\0B=2\0" and our own environment into the command's; for tests. */
char **launch_env_merge(const char *theirs, size_t bytes, char *const *ours,
			const struct person *as);

#endif
