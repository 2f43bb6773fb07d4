/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Distribution of durations in little memory: each power of two has 64 equal buckets, so a quantile
 * is within 0.8 % of the true value. Values below 64 are exact, and so are count, sum, minimum and
 * maximum. A zeroed struct is an empty histogram.
 */
#ifndef POV_LIB_HISTOGRAM_H
#define POV_LIB_HISTOGRAM_H

#include <stdint.h>

/* one for 0…63, and one for each power of two above */
#define HISTOGRAM_PAGES 59
#define HISTOGRAM_PAGE_BUCKETS 64

struct histogram {
	uint64_t *page[HISTOGRAM_PAGES]; /* owned; NULL: empty */
	uint64_t cnt, sum, min, max;
};

void histogram_add(struct histogram *h, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);
/*
 * The smallest value that pct percent of all values do not exceed; 0 if the histogram is empty.
 * Exact for pct 0 (the minimum) and pct 100 (the maximum).
 */
uint64_t histogram_quantile(const struct histogram *h, double pct);
void histogram_release(struct histogram *h);

#endif
