/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A launch's place is the median, over the points, of how far it is from the launches' median there. Places are cut
 * in two where Student's t of both parts is largest. That is always somewhere: how large it becomes among launches
 * of one kind is drawn from the normal distribution.
 */
#include "compare/apart.h"

#include "compare/random.h"

#include "lib/log.h"
#include "core/stats.h"

#include <math.h>
#include <stdlib.h>

#define DRAWN 4999
#define SEED 19991106u
#define SPREAD_LEAST 0.001 /* 0.1 %: what varies less than that is nothing to divide by */

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(double *value, size_t cnt)
{
	const struct samples s = {.value = value, .cnt = cnt, .room = cnt};

	return stats_quantile(&s, 0.5);
}

/* The caller frees. */
static double *find_places(const double *value, size_t point_cnt, size_t cnt)
{
	double *place = xcalloc(cnt, sizeof(*place)), *one = xcalloc(cnt, sizeof(*one));
	double *from = xcalloc(point_cnt * cnt, sizeof(*from));
	size_t i, k;

	for (i = 0; i < point_cnt; i++) {
		double middle;

		for (k = 0; k < cnt; k++)
			one[k] = value[i * cnt + k];
		middle = median_of(one, cnt);
		for (k = 0; k < cnt; k++)
			from[k * point_cnt + i] = one[k] - middle;
	}
	for (k = 0; k < cnt; k++)
		place[k] = median_of(from + k * point_cnt, point_cnt);
	free(from);
	free(one);
	return place;
}

/* The largest t of all cuts of sorted values; *cut: the number of values below it. */
static double best_cut(const double *sorted, size_t cnt, double least, size_t *cut)
{
	double sum = 0, squares = 0, low = 0, best = -1;
	size_t i;

	for (i = 0; i < cnt; i++)
		sum += sorted[i];
	for (i = 0; i < cnt; i++)
		squares += (sorted[i] - sum / (double)cnt) * (sorted[i] - sum / (double)cnt);
	for (i = 1; i < cnt; i++) {
		double n = (double)i, m = (double)(cnt - i), apart, within;

		low += sorted[i - 1];
		apart = (sum - low) / m - low / n;
		within = fmax(0, squares - apart * apart * n * m / (n + m));
		within = (sqrt(within / (double)(cnt - 2)) + least) * sqrt(1 / n + 1 / m);
		if (apart / within > best) {
			best = apart / within;
			*cut = i;
		}
	}
	return best;
}

/* The share of drawn sets of launches, all of one kind, whose best cut is as far. */
static double chance(double far, size_t cnt)
{
	double *value = xcalloc(cnt, sizeof(*value));
	size_t reached = 1, cut, i, k;
	uint64_t seed = SEED;

	for (i = 0; i < DRAWN; i++) {
		for (k = 0; k < cnt; k++)
			value[k] = random_normal(&seed);
		qsort(value, cnt, sizeof(*value), compare_values);
		reached += best_cut(value, cnt, 0, &cut) >= far;
	}
	free(value);
	return (double)reached / (DRAWN + 1);
}

bool apart_find(const double *value, size_t point_cnt, size_t cnt, double level, struct apart *out,
		bool *named)
{
	double *place, *sorted, far, border;
	bool slower_named, found = false;
	size_t i, cut = 0;

	if (cnt < APART_LAUNCHES || !point_cnt)
		return false;
	place = find_places(value, point_cnt, cnt);
	sorted = xmalloc(cnt * sizeof(*sorted));
	for (i = 0; i < cnt; i++)
		sorted[i] = place[i];
	qsort(sorted, cnt, sizeof(*sorted), compare_values);
	far = best_cut(sorted, cnt, SPREAD_LEAST, &cut);
	slower_named = cnt - cut <= cut;
	border = sorted[cut];
	out->ratio = exp(median_of(sorted + cut, cnt - cut) - median_of(sorted, cut));
	if (out->ratio - 1 >= APART_LEAST) {
		out->p = chance(far, cnt);
		found = out->p <= level;
	}
	if (!slower_named)
		out->ratio = 1 / out->ratio;
	for (i = 0; i < cnt; i++)
		named[i] = (place[i] >= border) == slower_named;
	free(sorted);
	free(place);
	return found;
}
