/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Files of /proc, which have no size that could be asked for. */
#ifndef POV_LIB_PROC_FILE_H
#define POV_LIB_PROC_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * A file of /proc/PID up to at least max bytes, ended with a zero byte that *len does not count; *len ≥ max: there may be
 * more. NULL with errno if it cannot be read. The caller frees.
 */
char *proc_file_read(pid_t pid, const char *name, size_t max, size_t *len);

#endif
