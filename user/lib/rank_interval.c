/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The rank is that of Mann and Whitney's U (1947). The number of orders of n + m values with U = u
 * is the coefficient of x^u in the product of (1 − x^(m+i)) / (1 − x^i) over i = 1 … n. The small
 * coefficients, which decide, are exact in a double.
 */
#include "lib/rank_interval.h"

#include <stdlib.h>

#include "lib/log.h"

size_t rank_interval(size_t n, size_t m, double tail)
{
	size_t top = n * m / 2, u;
	double *ways, all = 1, sum = 0;

	if (!n || !m)
		return 0;
	ways = xcalloc(top + 1, sizeof(*ways));
	ways[0] = 1;
	for (size_t i = 1; i <= n; i++) {
		for (u = top + 1; u-- > m + i;)
			ways[u] -= ways[u - m - i];
		for (u = i; u <= top; u++)
			ways[u] += ways[u - i];
		all *= (double)(m + i) / (double)i;
	}
	for (u = 0; u <= top; u++) {
		sum += ways[u];
		if (sum / all > tail)
			break;
	}
	free(ways);
	return u;
}
