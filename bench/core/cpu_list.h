/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The processing units (hardware threads) of this node, and binding to them. */
#ifndef POVBENCH_CPU_LIST_H
#define POVBENCH_CPU_LIST_H

#include <sched.h>
#include <stddef.h>

struct cpu_list {
	int *cpu;     /* the kernel's numbers: first of each core, then second of each …; owned */
	int cnt;      /* of cpu */
	int core_cnt; /* the first so many are of different cores */
};

/* Those in mask; null: all that this container may use. */
void cpu_list_init(struct cpu_list *u, const cpu_set_t *mask);
/*
 * Those of a list such as "0,4-7". -EINVAL: it is none; -ENOENT: `missing`, the first that is not here. u is empty
 * then. Unsaid.
 */
int cpu_list_parse(struct cpu_list *u, const char *list, int *missing);
void cpu_list_release(struct cpu_list *u);

/* Binds the calling thread. 0 or -errno, unsaid. */
int cpu_bind(int cpu);

#endif
