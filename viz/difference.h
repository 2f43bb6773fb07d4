/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The points that two results have in common, with the ratio of their times. */
#ifndef POVPLOT_DIFFERENCE_H
#define POVPLOT_DIFFERENCE_H

#include "cells.h"
#include "chart.h"
#include "picture.h"

struct difference_point {
	const json_t *json; /* of the first result */
	double ratio, low,
		high; /* second to first; the interval is NaN where one of both has none */
};

struct difference {
	const struct data_result *first;
	struct difference_point *point; /* owned */
	size_t cnt;
};

/* Of the times "measured". 0, or -ENODATA after printing that they have no point in common. */
int difference_init(struct difference *d, const struct data_result *a, const struct data_result *b);
void difference_release(struct difference *d);

/* The ratios as cells over message size and computation time. 0, or -errno after printing why there are none. */
int difference_cells(const struct difference *d, struct cells *out);

#endif
