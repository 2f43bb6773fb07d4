/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A BPF program that few recordings need and that takes the kernel long to verify. The process that
 * first attaches it loads it. Such a program is in section LATE_PROGRAM_SECTION.
 */
#ifndef POV_TARGET_LATE_PROGRAM_H
#define POV_TARGET_LATE_PROGRAM_H

#include <stddef.h>

#define LATE_PROGRAM_SECTION "late"
#define LATE_PROGRAM_FDS_MAX 64

struct late_program;

/*
 * Call this before the object with the program is opened. NULL: libbpf refuses, and the program
 * cannot be loaded. Close the object only after late_program_free.
 */
struct late_program *late_program_new(void);
void late_program_free(struct late_program *p);
/*
 * Returns its descriptor, owned by p, or -errno (printed). The first call loads it, which is slow.
 */
int late_program_fd(struct late_program *p);
/* Stores the descriptors that loading needs: maps and types. Returns how many. */
size_t late_program_needs(const struct late_program *p, int fd[LATE_PROGRAM_FDS_MAX]);

#endif
