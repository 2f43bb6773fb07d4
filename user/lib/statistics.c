/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Pages of a histogram are allocated when the first value falls into them. */
#include "lib/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

#define PAGE_BITS 6

static unsigned int page_of(uint64_t value)
{
	return value < HISTOGRAM_PAGE_BUCKETS ?
		       0 :
		       64 - PAGE_BITS - (unsigned int)__builtin_clzll(value);
}

void histogram_add(struct histogram *h, uint64_t value)
{
	unsigned int page = page_of(value);
	uint64_t sub = page ? value >> (page - 1) : value;

	if (!h->page[page])
		h->page[page] = xcalloc(HISTOGRAM_PAGE_BUCKETS, sizeof(*h->page[page]));
	h->page[page][sub & (HISTOGRAM_PAGE_BUCKETS - 1)]++;
	if (!h->cnt || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->cnt++;
	h->sum += value;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	if (!from->cnt)
		return;
	for (unsigned int page = 0; page < HISTOGRAM_PAGES; page++) {
		if (!from->page[page])
			continue;
		if (!into->page[page])
			into->page[page] = xcalloc(HISTOGRAM_PAGE_BUCKETS,
						   sizeof(*into->page[page]));
		for (unsigned int i = 0; i < HISTOGRAM_PAGE_BUCKETS; i++)
			into->page[page][i] += from->page[page][i];
	}
	if (!into->cnt || from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->cnt += from->cnt;
	into->sum += from->sum;
}

static uint64_t bucket_middle(unsigned int page, unsigned int i)
{
	if (!page)
		return i;
	return ((uint64_t)(i | HISTOGRAM_PAGE_BUCKETS) << (page - 1)) +
	       ((UINT64_C(1) << (page - 1)) >> 1);
}

uint64_t histogram_quantile(const struct histogram *h, double pct)
{
	uint64_t rank, seen = 0, value;

	if (!h->cnt)
		return 0;
	rank = (uint64_t)ceil(pct / 100.0 * (double)h->cnt);
	if (rank <= 1)
		return h->min;
	if (rank >= h->cnt)
		return h->max;
	for (unsigned int page = 0; page < HISTOGRAM_PAGES; page++) {
		for (unsigned int i = 0; h->page[page] && i < HISTOGRAM_PAGE_BUCKETS; i++) {
			seen += h->page[page][i];
			if (seen < rank)
				continue;
			value = bucket_middle(page, i);
			return value < h->min ? h->min : value > h->max ? h->max : value;
		}
	}
	return h->max;
}

void histogram_release(struct histogram *h)
{
	for (unsigned int page = 0; page < HISTOGRAM_PAGES; page++)
		free(h->page[page]);
	memset(h, 0, sizeof(*h));
}

/* ---- confidence intervals ---- */

/*
 * The rank is that of Mann and Whitney's U (1947). The number of orders of n + m values with U = u
 * is the coefficient of x^u in the product of (1 − x^(m+i)) / (1 − x^i) over i = 1 … n. The small
 * coefficients, which decide, are exact in a double.
 */
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
