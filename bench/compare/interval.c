/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See interval.h. */
#include "compare/interval.h"

#include "lib/log.h"
#include "lib/rank_interval.h"
#include "core/stats.h"

#include <math.h>
#include <stdlib.h>

#define TAIL 0.025	  /* of the distribution, on each side */
#define EXACT_LAUNCHES 60 /* of a set; with more, the normal distribution is near enough */
#define Z_95 1.96

size_t interval_rank(size_t n, size_t m)
{
	double pairs = (double)n * (double)m;

	if (!n || !m)
		return 0;
	if (n <= EXACT_LAUNCHES && m <= EXACT_LAUNCHES)
		return rank_interval(n, m, TAIL);
	return (size_t)fmax(0, floor(pairs / 2 - Z_95 * sqrt(pairs * (double)(n + m + 1) / 12)));
}

static double median_of(const double *value, size_t cnt)
{
	const struct samples s = {.value = (double *)value, .cnt = cnt, .room = cnt};

	return stats_quantile(&s, 0.5);
}

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct ratio interval_ratio(const double *a, size_t n, const double *b, size_t m, size_t rank)
{
	struct ratio out = {.value = median_of(b, m) / median_of(a, n)};
	double *all = xmalloc(n * m * sizeof(*all));
	size_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < m; k++)
			all[i * m + k] = b[k] / a[i];
	}
	qsort(all, n * m, sizeof(*all), compare_values);
	rank = rank ? rank : 1;
	/* The interval is around the median of all ratios, which is seldom just the ratio of the medians. */
	out.low = fmin(all[rank - 1], out.value);
	out.high = fmax(all[n * m - rank], out.value);
	free(all);
	return out;
}
