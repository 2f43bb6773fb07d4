/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Handles the programs that the process executes. If a program's environment has another
 * LD_PRELOAD, this library is put before it. Other programs run without this library, and the
 * collector is informed first: static programs, those with an empty LD_PRELOAD or none (env -i),
 * and those that cannot see the library (chroot).
 */
#ifndef POV_PRELOAD_EXEC_H
#define POV_PRELOAD_EXEC_H

#include <link.h>

#include "preload/in_process.h"

/* own is this library. Hooks the C library's execve, if its code is known well enough. */
void exec_begin(const struct link_map *own);

/* In enter.S: the entry from execve, and where execve continues after its first instruction. */
void exec_enter(void);
extern u64 exec_goes_on;
/*
 * Called before execve. Executes the program itself if it must have another environment. Returns if
 * it need not, or if that failed.
 */
void exec_before(const char *path, char *const *argv, char *const *envp);

#endif
