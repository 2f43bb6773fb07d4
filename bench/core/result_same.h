/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Whether two runs' results may be in one file: the factors that decide a measurement. */
#ifndef POVBENCH_RESULT_SAME_H
#define POVBENCH_RESULT_SAME_H

#include <jansson.h>

/*
 * 0 if what decides a measurement is the same; -EEXIST after printing what is not. Of the ranks, those that both runs
 * have must be at the same places: one of them may have more.
 */
int result_same(const char *path, const json_t *old, const json_t *new);
/* The same of a benchmark's options. */
int result_same_options(const char *path, const char *benchmark, const json_t *old,
			const json_t *new);

#endif
