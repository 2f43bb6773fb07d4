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

/* The sentence of a map, and of the others (classify_map.c, classify.c). */
char *classify_map(const struct result *r);

#endif
