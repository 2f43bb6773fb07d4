/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What is drawn of several launches: for each point the medians over them. */
#ifndef POVPLOT_LAUNCHES_H
#define POVPLOT_LAUNCHES_H

#include <jansson.h>

/*
 * An array of results, one for each benchmark, number of ranks and set of options, in the order in which they first appear. Of
 * what one launch has it is that launch's; else its points have, for every figure that is a number, the median over the
 * launches that have it, if these are half of them at least, and "launches" says how many there are. A time's interval is that over launches: the smallest
 * and the largest of their medians, and from 6 launches on by ranks. What was broken off counts only where nothing is
 * whole. The sentence is that of the launch in the middle. The caller releases it.
 */
json_t *launches_medians(const json_t *launches);

#endif
