/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * When tasks have finished a broadcast or reduction of eager messages. That follows from the
 * pattern and from the link between the two tasks of each message, and is worked out here from the
 * patterns' definitions.
 */
#ifndef POVBENCH_PATTERN_H
#define POVBENCH_PATTERN_H

struct selftest;

/*
 * The current point's "finish" (task has passed on what it has to), "last_finish" (all have),
 * "reduced" (the root has the result, all having begun at 0) or "reduce_path" (from the task's
 * beginning, all others being ahead, to the root's result); ns.
 */
double pattern_value(const struct selftest *t, const char *name, double task);

#endif
