/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Launches that differ from the others of their file (apart.h), by benchmark, as JSON and in
 * words.
 */
#ifndef POVBENCH_COMPARE_SPREAD_H
#define POVBENCH_COMPARE_SPREAD_H

#include "compare/collect.h"

/*
 * Returns an array of {"benchmark", "ranks", "launches", "of", "ratio", "p"} with "factor" if a
 * factor differs in the same way. The caller releases it.
 */
json_t *spread_find(const struct comparison *c, int side);
/*
 * Writes "sender, 2 ranks: launches 3, 6 and 9 of 10 are 10.2 % slower than the others". Caller
 * frees.
 */
char *spread_text(const json_t *one);

#endif
