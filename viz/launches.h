/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Combines several launches for drawing: for each point the medians over the launches. */
#ifndef POVPLOT_LAUNCHES_H
#define POVPLOT_LAUNCHES_H

#include <jansson.h>

/*
 * Returns an array of results, one for each benchmark, number of ranks and set of options, in the
 * order of first appearance. A result that only one launch has is that launch's. Otherwise each
 * number of a point is the median over the launches that have it, if these are at least half of
 * them, and "launches" is their number. A time's interval is the one over launches: the smallest
 * and the largest of their medians, and from 6 launches on by ranks. Interrupted results count
 * only if there is no complete one. The sentence is that of the launch in the middle. The caller
 * releases the array.
 */
json_t *launches_medians(const json_t *launches);

#endif
