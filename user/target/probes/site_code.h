/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Checks the code at probe sites of a process that may have run for long. Where another tool has
 * replaced a function's first instructions, a breakpoint would change that tool's instructions, and
 * the kernel would continue as if they were the file's.
 */
#ifndef POV_TARGET_PROBES_SITE_CODE_H
#define POV_TARGET_PROBES_SITE_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct site_code;

/* file: the file that the process maps; borrowed. NULL: the process's memory cannot be read. */
struct site_code *site_code_open(pid_t pid, int file);
void site_code_close(struct site_code *c); /* NULL is allowed */
/*
 * Returns true if the process's code around an offset of the file, `before` and `after` bytes, is
 * the file's except for breakpoints, or if that is unknown. NULL: unknown.
 */
bool site_code_is_original(const struct site_code *c, uint64_t offset, uint64_t before,
			   uint64_t after);

#endif
