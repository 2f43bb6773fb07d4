/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The axes of the 2-D space (Denis & Trahay 2016, III.C): steps of √2, rounded to whole bytes and
 * ns.
 */
#ifndef POVBENCH_SWEEP_H
#define POVBENCH_SWEEP_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

struct sweep {
	uint64_t *value; /* ascending, without duplicates; owned */
	size_t cnt;
};

/*
 * min, min·step, … up to and including max, if a step hits max within rounding. A min of 0 gives 0
 * and then continues from `first`. All values are multiples of `unit`.
 */
void sweep_init(struct sweep *s, uint64_t min, uint64_t max, double step, uint64_t first,
		uint64_t unit);
void sweep_release(struct sweep *s);

/*
 * Returns 0 … cnt-1 in random order. Equal values of *random give equal orders; *random advances.
 * The caller frees the array.
 */
size_t *sweep_shuffled(size_t cnt, uint64_t *random);

/* Numbers of tasks for which a collective is measured, as a list of the user: "2-9,12,16". */

#define TASKS_MAX 1000000

/* True for numbers of 2 or more and ranges of them, separated by commas. */
bool tasks_valid(const char *list);
/* The largest number in the list. */
int tasks_most(const char *list);
/*
 * The least number above `last` (0: the first) that is in the list and not above `all`; 0 if there
 * is none. Without a list (null): 2, 4, 8 … and `all`.
 */
int tasks_next(const char *list, int last, int all);

#endif
