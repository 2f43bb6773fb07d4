/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A program of the kernel half that few recordings need, and that the kernel takes long to verify. It is loaded by the process that
 * attaches it first. Such a program stands in section LATE_PROGRAM_SECTION.
 */
#ifndef POV_TARGET_LATE_PROGRAM_H
#define POV_TARGET_LATE_PROGRAM_H

#include <stddef.h>

#define LATE_PROGRAM_SECTION "late"
#define LATE_PROGRAM_FDS_MAX 64

struct late_program;

/*
 * Before the object with the program is opened. NULL: libbpf refuses, and the program cannot be loaded. The object must not be closed before
 * late_program_free.
 */
struct late_program *late_program_new(void);
void late_program_free(struct late_program *p);
/* Its descriptor, which the late_program owns; or -errno (printed): it does not load. Slow at the first time. */
int late_program_fd(struct late_program *p);
/* The descriptors without which it cannot be loaded: of maps, and of its types. Returns how many. */
size_t late_program_needs(const struct late_program *p, int fd[LATE_PROGRAM_FDS_MAX]);

#endif
