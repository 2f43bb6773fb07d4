/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The environment that a launched command finds. sudo gives its command a cleaned one (no LD_LIBRARY_PATH, a PATH of
 * its own); whoever types "sudo povtrace record -- mpirun …" expects the mpirun and the libraries of that shell.
 */
#ifndef POV_RECORD_LAUNCH_LAUNCH_ENV_H
#define POV_RECORD_LAUNCH_LAUNCH_ENV_H

#include <stdbool.h>
#include <stddef.h>

struct person;

/*
 * NULL-terminated, freed by launch_env_free. as NULL: ours. behind: of the shell where sudo was typed, with what was
 * added since; its PATH comes first. If that cannot be read, and without behind: ours, with the user's name and home.
 */
char **launch_env_make(const struct person *as, bool behind);
void launch_env_free(char **envp);
/* The value of a variable, or NULL. */
const char *launch_env_get(char *const *envp, const char *name);
/* A copy in which a variable has that value; freed by launch_env_free. */
char **launch_env_with(char *const *envp, const char *name, const char *value);

/* "A=1\0B=2\0" and our own environment → that of the command; for tests. */
char **launch_env_merge(const char *theirs, size_t bytes, char *const *ours,
			const struct person *as);

#endif
