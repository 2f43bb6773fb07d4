/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * When tasks finish a broadcast or reduction of eager messages. The time follows from the pattern
 * and from the link between the two tasks of each message. It is derived here from the patterns'
 * definitions.
 */
#ifndef POVBENCH_PATTERN_H
#define POVBENCH_PATTERN_H

struct selftest;

/*
 * Returns a time of the current point, in ns:
 *
 *   "finish"        the task has passed on all that it has to
 *   "last_finish"   all tasks have
 *   "reduced"       the root has the result, all tasks having begun at 0
 *   "reduce_path"   from the task's begin to the root's result, all other tasks being ahead
 */
double pattern_value(const struct selftest *t, const char *name, double task);

#endif
