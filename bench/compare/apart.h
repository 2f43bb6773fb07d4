/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Launches that differ from the others of their file: whoever compares two files should know that one of them is of two
 * kinds of launches.
 */
#ifndef POVBENCH_COMPARE_APART_H
#define POVBENCH_COMPARE_APART_H

#include <stdbool.h>
#include <stddef.h>

#define APART_LEVEL 0.01 /* risk that launches of one kind are said to be of two */
#define APART_LEAST 0.02 /* what differs by less is not told */
#define APART_LAUNCHES 4 /* fewer say nothing */

struct apart {
	double ratio; /* time of those named to that of the others */
	double p;
};

/*
 * value[point × cnt + launch] are logarithms of times. named[launch]: belongs to the smaller of the two kinds, or, if they are
 * equal in number, to the slower one. False: they are of one kind, as far as can be told.
 */
bool apart_find(const double *value, size_t point_cnt, size_t cnt, double level, struct apart *out,
		bool *named);

#endif
