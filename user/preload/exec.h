/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the process executes. If a program's environment has another LD_PRELOAD, this library is put
 * before it. Other programs run without this library, and the collector hears of them first: static
 * ones, those with an empty LD_PRELOAD or none (env -i), and those that cannot see it (chroot).
 */
#ifndef POV_PRELOAD_EXEC_H
#define POV_PRELOAD_EXEC_H

#include <link.h>

#include "preload/in_process.h"

/* own: this library. Enters the C library's execve, if that is known well enough. */
void exec_begin(const struct link_map *own);

/* enter.S: where execve comes in, and what is behind its first instruction. */
void exec_enter(void);
extern u64 exec_goes_on;
/* Its environment may be another one then: what is returned. */
char *const *exec_before(const char *path, char *const *argv, char *const *envp, char **room);

#endif
