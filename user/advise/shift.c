/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See shift.h. */
#include "advise/shift.h"

#include <stdlib.h>

#include "base/log.h"

/*
 * Of all ways in which na + nb values of one kind can be dealt out, the share in which at most u pairs have a's value below b's:
 * sums of na different ranks are counted.
 */
static uint32_t tail_of(uint32_t na, uint32_t nb, double share)
{
	uint32_t most = na * (na + nb), least = na * (na + 1) / 2, pairs = 0;
	double *ways = xcalloc((size_t)(na + 1) * (most + 1), sizeof(*ways)), all = 0, sum = 0;

	ways[0] = 1;
	for (uint32_t rank = 1; rank <= na + nb; rank++)
		for (uint32_t k = rank < na ? rank : na; k > 0; k--)
			for (uint32_t s = most; s >= rank; s--)
				ways[k * (most + 1) + s] += ways[(k - 1) * (most + 1) + s - rank];
	for (uint32_t s = least; s <= most; s++)
		all += ways[na * (most + 1) + s];
	for (; least + pairs <= most; pairs++) {
		sum += ways[na * (most + 1) + least + pairs];
		if (sum > share * all)
			break;
	}
	free(ways);
	return pairs;
}

static int value_compare(const void *va, const void *vb)
{
	double a = *(const double *)va, b = *(const double *)vb;

	return a < b ? -1 : a > b;
}

bool shift_of(const double *a, uint32_t na, const double *b, uint32_t nb, bool ratio, double level,
	      struct shift *out)
{
	uint32_t tail, n = 0;
	double *pair;

	na = na < SHIFT_MOST ? na : SHIFT_MOST;
	nb = nb < SHIFT_MOST ? nb : SHIFT_MOST;
	if (!na || !nb)
		return false;
	tail = tail_of(na, nb, level / 2);
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
		if (tail_of(n, n, level / 2))
			return n;
	}
	return 0;
}
