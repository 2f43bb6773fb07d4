/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Helpers that all rules of classify.h share: they select and summarise the points' numbers. */
#ifndef POVBENCH_CLASSIFY_LIST_H
#define POVBENCH_CLASSIFY_LIST_H

#include "core/result_file.h"

/* Returns the distinct values of a parameter in ascending order; the caller releases out. */
void classify_values(const struct result *r, const char *param, struct samples *out);
/* True if the point's parameter has this value. */
bool classify_is(const struct result *r, size_t idx, const char *param, double value);
/* Returns a text parameter of the point, or "". Borrowed. */
const char *classify_text(const struct result *r, size_t idx, const char *param);

/* Return the least and the largest value of a parameter; NaN if there is none. */
double classify_first(const struct result *r, const char *param);
double classify_last(const struct result *r, const char *param);

/* Appends `more` after a separator; text may be null. Frees both; the caller owns the result. */
char *classify_joined(char *text, char *more, const char *separator);

/*
 * The sentences of these kinds, one file each, without the benchmark's name. Null if there is
 * nothing to report. The caller frees them.
 */
char *classify_map(const struct result *r);
char *classify_load(const struct result *r);
char *classify_broadcast(const struct result *r);
char *classify_protocol(const struct result *r);

#endif
