/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Sets of CPUs as results write them: lists such as "0,4-7". */
#ifndef POVBENCH_CPU_SET_H
#define POVBENCH_CPU_SET_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* Writes as many entries as fit; the rest is left out. */
void cpu_set_text(const cpu_set_t *set, char *text, size_t bytes);
/*
 * Returns false if the text is no such list; the set then has what was read before the error. CPUs
 * from CPU_SETSIZE on are left out.
 */
bool cpu_set_read(cpu_set_t *set, const char *text);

#endif
