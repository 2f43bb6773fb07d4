/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A result file in memory, of whatever version it is: who reads it sees the newest one's form (kmod-docs/BENCH_FORMAT.md). */
#ifndef POVBENCH_RESULT_READ_H
#define POVBENCH_RESULT_READ_H

#include <stdbool.h>

#include <jansson.h>

#define RESULT_FORMAT "povbench"
#define RESULT_VERSION 2

/*
 * The whole file; the caller releases it. Its launches are objects, each with an array of results that are objects.
 * -EINVAL after printing why it is no result file, with `hint` behind it.
 */
int result_read(const char *path, const char *hint, json_t **out);

/* Whether two results are of the same: benchmark, ranks and options. */
bool result_is_of(const json_t *r, const char *benchmark, json_int_t ranks, const json_t *options);
/* Whether it was broken off: some points only. */
bool result_is_part(const json_t *r);

#endif
