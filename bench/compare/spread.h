/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Launches that differ from the others of their file, by benchmark, as JSON and in
 * words.
 */
#ifndef POVBENCH_COMPARE_SPREAD_H
#define POVBENCH_COMPARE_SPREAD_H

#include "compare/collect.h"

#include <stdbool.h>
#include <stddef.h>

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

/*
 * Finds launches that differ from the others of their file. A user who compares two files should
 * know if one of them contains two kinds of launches.
 */

#define APART_LEVEL 0.01 /* risk that launches of one kind are reported as two kinds */
#define APART_LEAST 0.02 /* smaller differences are not reported */
#define APART_LAUNCHES 4 /* fewer launches show nothing */

struct apart {
	double ratio; /* time of the named launches over that of the others */
	double p;
};

/*
 * value[point × cnt + launch] are logarithms of times. Sets named[launch] for launches of the
 * smaller of the two kinds or, if both have equal numbers, of the slower one. Returns false if
 * they appear to be of one kind.
 */
bool apart_find(const double *value, size_t point_cnt, size_t cnt, double level, struct apart *out,
		bool *named);

#endif
