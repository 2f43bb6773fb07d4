/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Numbers of tasks that a collective is measured with, as users list them: "2-9,12,16". */
#ifndef POVBENCH_TASKS_H
#define POVBENCH_TASKS_H

#include <stdbool.h>

#define TASKS_MAX 1000000

/* Numbers from 2 on, and ranges of them, with commas between. */
bool tasks_valid(const char *list);
/* The largest number in the list. */
int tasks_most(const char *list);
/*
 * The least number above `last` (0: the first one) that the list names and that `all` tasks allow; 0: none. Without a list
 * (null) 2, 4, 8 … and all.
 */
int tasks_next(const char *list, int last, int all);

#endif
