/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Numbers of tasks for which a collective is measured, as a list of the user: "2-9,12,16". */
#ifndef POVBENCH_TASKS_H
#define POVBENCH_TASKS_H

#include <stdbool.h>

#define TASKS_MAX 1000000

/* True for numbers from 2 on and ranges of them, separated by commas. */
bool tasks_valid(const char *list);
/* The largest number in the list. */
int tasks_most(const char *list);
/*
 * The least number above `last` (0: the first) that is in the list and not above `all`; 0 if there
 * is none. Without a list (null): 2, 4, 8 … and `all`.
 */
int tasks_next(const char *list, int last, int all);

#endif
