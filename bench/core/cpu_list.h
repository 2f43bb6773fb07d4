/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The processing units (hardware threads) of this node, and binding to them. */
#ifndef POVBENCH_CPU_LIST_H
#define POVBENCH_CPU_LIST_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

struct cpu_list {
	int *cpu; /* kernel's numbers: the first unit of each core, then the second …; owned */
	int cnt;  /* length of cpu */
	int core_cnt; /* the first core_cnt entries are on different cores */
};

/* Lists the units in mask; with null, all that this container may use. */
void cpu_list_init(struct cpu_list *u, const cpu_set_t *mask);
/*
 * Lists the units of a text such as "0,4-7". Returns -EINVAL if the text is no list, or -ENOENT if
 * a unit does not exist here; `missing` is the first such unit. u is empty then. Prints nothing.
 */
int cpu_list_parse(struct cpu_list *u, const char *list, int *missing);
void cpu_list_release(struct cpu_list *u);

/* Binds the calling thread. Returns 0 or -errno and prints nothing. */
int cpu_bind(int cpu);

/* ---- sets of CPUs as results write them, such as "0,4-7" (cpu_set.c) ---- */

/* Writes as many entries as fit; the rest is left out. */
void cpu_set_text(const cpu_set_t *set, char *text, size_t bytes);
/*
 * Returns false if the text is no such list; the set then has what was read before the error. CPUs
 * from CPU_SETSIZE on are left out.
 */
bool cpu_set_read(cpu_set_t *set, const char *text);

#endif
