/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads a result file of any version into memory. Callers always get the form of the newest version
 * (kmod-docs/BENCH_FORMAT.md).
 */
#ifndef POVBENCH_RESULT_READ_H
#define POVBENCH_RESULT_READ_H

#include <stdbool.h>

#include <jansson.h>

#define RESULT_FORMAT "povbench"
#define RESULT_VERSION 2

/*
 * Reads the whole file; the caller releases it. Its launches are objects, each with an array of
 * results that are objects. If it is no result file, prints why, followed by `hint`, and returns
 * -EINVAL.
 */
int result_read(const char *path, const char *hint, json_t **out);

/* True if a result has this benchmark, ranks and options. */
bool result_is_of(const json_t *r, const char *benchmark, json_int_t ranks, const json_t *options);
/* True if the result was interrupted and has only some of its points. */
bool result_is_part(const json_t *r);

#endif
