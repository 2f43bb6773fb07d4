/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Samples stay in the order in which they were taken. Functions that need an order sort a copy.
 * The median's interval is made of order statistics, so it assumes nothing about the distribution.
 * Times of messages are far from normally distributed.
 */
#include "core/stats.h"

#include "lib/log.h"
#include "lib/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define Z_95 1.96
#define CI_CNT_MIN 6 /* with fewer samples the ranks are outside of the sample */

void samples_release(struct samples *s)
{
	if (!s)
		return;
	free(s->value);
	*s = (struct samples){0};
}

void samples_clear(struct samples *s)
{
	s->cnt = 0;
}

void samples_add(struct samples *s, double value)
{
	*table_append(s->value, s->cnt) = value;
}

void samples_append(struct samples *to, const struct samples *from)
{
	for (size_t i = 0; i < from->cnt; i++)
		samples_add(to, from->value[i]);
}

void samples_cut(struct samples *s, size_t first, size_t cnt)
{
	first = first < s->cnt ? first : s->cnt;
	s->cnt = s->cnt - first < cnt ? s->cnt - first : cnt;
	if (s->cnt)
		memmove(s->value, s->value + first, s->cnt * sizeof(*s->value));
}

int stats_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The caller frees the copy. */
static double *sorted_copy(const struct samples *s)
{
	double *v = xmalloc(s->cnt * sizeof(*v));

	memcpy(v, s->value, s->cnt * sizeof(*v));
	qsort(v, s->cnt, sizeof(*v), stats_compare);
	return v;
}

void samples_sorted(const struct samples *s, struct samples *out)
{
	*out = (struct samples){.value = sorted_copy(s), .cnt = s->cnt};
}

static double quantile_of(const double *sorted, size_t cnt, double q)
{
	double at = q * (double)(cnt - 1);
	size_t low = (size_t)at;

	if (low + 1 >= cnt)
		return sorted[cnt - 1];
	return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

static void median_interval(const double *sorted, size_t cnt, double *low, double *high)
{
	double n = (double)cnt, spread = Z_95 * sqrt(n);
	size_t low_rank, high_rank; /* counted from 1 */

	*low = sorted[0];
	*high = sorted[cnt - 1];
	if (cnt < CI_CNT_MIN)
		return;
	low_rank = (size_t)fmax(1, floor((n - spread) / 2));
	high_rank = (size_t)fmin(n, ceil(1 + (n + spread) / 2));
	*low = sorted[low_rank - 1];
	*high = sorted[high_rank - 1];
}

static void mean_sd(const struct samples *s, double *mean, double *sd)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < s->cnt; i++)
		sum += s->value[i];
	*mean = sum / (double)s->cnt;
	for (size_t i = 0; i < s->cnt; i++)
		squares += (s->value[i] - *mean) * (s->value[i] - *mean);
	*sd = s->cnt > 1 ? sqrt(squares / (double)(s->cnt - 1)) : 0;
}

void stats_summarize(const struct samples *s, struct summary *out)
{
	double *v;

	memset(out, 0, sizeof(*out));
	if (!s->cnt)
		return;
	v = sorted_copy(s);
	out->cnt = s->cnt;
	out->min = v[0];
	out->p25 = quantile_of(v, s->cnt, 0.25);
	out->median = quantile_of(v, s->cnt, 0.5);
	out->p75 = quantile_of(v, s->cnt, 0.75);
	out->p90 = quantile_of(v, s->cnt, 0.9);
	out->p99 = quantile_of(v, s->cnt, 0.99);
	out->max = v[s->cnt - 1];
	median_interval(v, s->cnt, &out->ci_low, &out->ci_high);
	mean_sd(s, &out->mean, &out->sd);
	free(v);
}

void stats_quantiles(const struct samples *s, int parts, double *out)
{
	double *v = s->cnt ? sorted_copy(s) : NULL;

	for (int i = 0; i <= parts; i++)
		out[i] = v ? quantile_of(v, s->cnt, (double)i / parts) : 0;
	free(v);
}

double stats_quantile(const struct samples *s, double q)
{
	double *v, value;

	if (!s->cnt)
		return 0;
	v = sorted_copy(s);
	value = quantile_of(v, s->cnt, q);
	free(v);
	return value;
}

double stats_median(const double *value, size_t cnt)
{
	const struct samples s = {.value = (double *)value, .cnt = cnt};

	return stats_quantile(&s, 0.5);
}

bool stats_settled(const struct samples *s, double pct)
{
	struct summary sum;
	double slack;

	if (s->cnt < CI_CNT_MIN)
		return false;
	stats_summarize(s, &sum);
	slack = fabs(sum.median) * pct / 100;
	return sum.median - sum.ci_low <= slack && sum.ci_high - sum.median <= slack;
}

bool stats_steady(const struct samples *s, double pct)
{
	double mean, sd;

	if (s->cnt < 2)
		return false;
	mean_sd(s, &mean, &sd);
	return sd < fabs(mean) * pct / 100;
}
