/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* For each file and benchmark, launches that differ from the others of the file (apart.h), in words and as JSON. */
#ifndef POVBENCH_COMPARE_SPREAD_H
#define POVBENCH_COMPARE_SPREAD_H

#include "compare/collect.h"

/*
 * An array of {"benchmark", "ranks", "launches", "of", "ratio", "p"} and, if some factor goes with it, "factor". The caller
 * releases it.
 */
json_t *spread_find(const struct comparison *c, int side);
/* "sender, 2 ranks: launches 3, 6 and 9 of 10 are 10.2 % slower than the others". The caller frees. */
char *spread_text(const json_t *one);

#endif
