/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The processing units (hardware threads) of this node, and binding to them. */
#ifndef POVBENCH_UNITS_H
#define POVBENCH_UNITS_H

#include <sched.h>
#include <stddef.h>

struct units {
	int *cpu;     /* the kernel's numbers: first of each core, then second of each …; owned */
	int cnt;      /* of cpu */
	int core_cnt; /* the first so many are of different cores */
};

/* Those in mask; null: all that this container may use. */
void units_init(struct units *u, const cpu_set_t *mask);
/*
 * Those of a list such as "0,4-7". -EINVAL: it is none; -ENOENT: `missing`, the first that is not here. u is empty
 * then. Unsaid.
 */
int units_parse(struct units *u, const char *list, int *missing);
void units_release(struct units *u);

/* As a list such as "0,4-7"; what has no room is left out. */
void units_set_text(const cpu_set_t *set, char *text, size_t bytes);
/* Binds the calling thread. 0 or -errno, unsaid. */
int units_bind(int cpu);

#endif
