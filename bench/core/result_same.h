/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Decides by the relevant factors whether two runs' results may be in one file. */
#ifndef POVBENCH_RESULT_SAME_H
#define POVBENCH_RESULT_SAME_H

#include <jansson.h>

/*
 * Returns 0 if all factors that decide a measurement are equal, otherwise -EEXIST after printing
 * the difference. Ranks that both runs have must be at the same places; one run may have more
 * ranks.
 */
int result_same(const char *path, const json_t *old, const json_t *new);
/* The same check for a benchmark's options. */
int result_same_options(const char *path, const char *benchmark, const json_t *old,
			const json_t *new);

#endif
