/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What the rules of classify.h have in common: the points' numbers, picked and summarised. */
#ifndef POVBENCH_CLASSIFY_LIST_H
#define POVBENCH_CLASSIFY_LIST_H

#include "core/result_file.h"

/* The different values of a parameter, ascending; to be released. */
void classify_values(const struct result *r, const char *param, struct samples *out);
/* A point's parameter is so. */
bool classify_is(const struct result *r, size_t idx, const char *param, double value);
/* "" if it has none. Borrowed. */
const char *classify_text(const struct result *r, size_t idx, const char *param);

/* The least and the largest value of a parameter; NaN if there is none. */
double classify_first(const struct result *r, const char *param);
double classify_last(const struct result *r, const char *param);

/* Appends, with a separator between two; text may be null. Takes over both, the caller frees what it returns. */
char *classify_joined(char *text, char *more, const char *separator);

/* The sentences of these kinds, in a file each, without the benchmark's name; null: nothing to say. To be freed. */
char *classify_map(const struct result *r);
char *classify_load(const struct result *r);
char *classify_broadcast(const struct result *r);
char *classify_protocol(const struct result *r);

#endif
