/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See shift.h. */
#include "advise/shift.h"

#include <stdlib.h>

#include "lib/log.h"
#include "lib/rank_interval.h"

static int value_compare(const void *va, const void *vb)
{
	double a = *(const double *)va, b = *(const double *)vb;

	return a < b ? -1 : a > b;
}

bool shift_of(const double *a, uint32_t na, const double *b, uint32_t nb, bool ratio, double level,
	      struct shift *out)
{
	size_t tail;
	uint32_t n = 0;
	double *pair;

	na = na < SHIFT_MOST ? na : SHIFT_MOST;
	nb = nb < SHIFT_MOST ? nb : SHIFT_MOST;
	tail = rank_interval(na, nb, level / 2);
	if (!tail)
		return false;
	pair = xcalloc((size_t)na * nb, sizeof(*pair));
	for (uint32_t i = 0; i < na; i++)
		for (uint32_t k = 0; k < nb; k++)
			pair[n++] = ratio ? a[i] / b[k] : a[i] - b[k];
	qsort(pair, n, sizeof(*pair), value_compare);
	*out = (struct shift){
		.median = (pair[(n - 1) / 2] + pair[n / 2]) / 2,
		.low = pair[tail - 1],
		.high = pair[n - tail],
	};
	free(pair);
	return true;
}

uint32_t shift_needs(double level)
{
	for (uint32_t n = 1; n <= SHIFT_MOST; n++) {
		if (rank_interval(n, n, level / 2))
			return n;
	}
	return 0;
}
