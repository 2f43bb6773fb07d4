/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The sentence of a map (the rule is in classify.h): a class for each size, runs of sizes of one class, and these in words
 * from the smallest size on.
 */
#include "core/classify.h"
#include "core/classify_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/human.h"
#include "base/log.h"

#define LIKE 2.0       /* factor between T_comm and T_comp for a point to count */
#define NEAREST 8.0    /* for the nearest one to count if none is that near */
#define EAGER_STEP 4.0 /* between the sizes on both sides of a threshold */
#define EAGER_MAX_BYTES (1024.0 * 1024)

static const char *const words[] = {
	[CLASSIFY_UNJUDGED] = "not judged",
	[CLASSIFY_OVERLAP] = "overlap",
	[CLASSIFY_PARTIAL] = "partial overlap",
	[CLASSIFY_NONE] = "no overlap",
	[CLASSIFY_WORSE] = "worse than one after the other",
};

static enum classify_overlap class_of(double ratio)
{
	if (isnan(ratio))
		return CLASSIFY_UNJUDGED;
	if (ratio < 0.25)
		return CLASSIFY_OVERLAP;
	if (ratio < 0.75)
		return CLASSIFY_PARTIAL;
	return ratio <= 1.25 ? CLASSIFY_NONE : CLASSIFY_WORSE;
}

/* The ratio that a size is judged by; NaN: none. */
static double size_ratio(const struct result *r, double bytes)
{
	double distance, nearest = NEAREST, nearest_ratio = NAN, ratio;
	const struct result_point *p;
	struct samples like;
	size_t i;

	samples_init(&like);
	for (i = 0; i < result_point_cnt(r); i++) {
		p = result_point_at(r, i);
		ratio = result_number(p, "ratio");
		if (!classify_is(r, i, "bytes", bytes) || isnan(ratio))
			continue;
		distance = exp(fabs(log(result_number(p, "comp") / result_number(p, "comm"))));
		if (distance <= LIKE * (1 + 1e-9))
			samples_add(&like, ratio);
		if (distance < nearest) {
			nearest = distance;
			nearest_ratio = ratio;
		}
	}
	ratio = like.cnt ? stats_quantile(&like, 0.5) : nearest_ratio;
	samples_release(&like);
	return ratio;
}

enum classify_overlap classify_size(const struct result *r, uint64_t bytes)
{
	return class_of(size_ratio(r, (double)bytes));
}

struct judged {
	double bytes;
	enum classify_overlap class;
};

/* Sizes that are judged; returns their number. */
static size_t judge(const struct result *r, const struct samples *sizes, struct judged *out)
{
	size_t i, cnt = 0;

	for (i = 0; i < sizes->cnt; i++) {
		out[cnt].bytes = sizes->value[i];
		out[cnt].class = class_of(size_ratio(r, sizes->value[i]));
		cnt += out[cnt].class != CLASSIFY_UNJUDGED;
	}
	return cnt;
}

static void merge_odd(struct judged *j, size_t cnt)
{
	size_t i;

	for (i = 1; i + 1 < cnt; i++) {
		if (j[i - 1].class == j[i + 1].class)
			j[i].class = j[i - 1].class;
	}
}

static size_t run_end(const struct judged *j, size_t cnt, size_t begin)
{
	size_t end = begin + 1;

	while (end < cnt && j[end].class == j[begin].class)
		end++;
	return end;
}

static bool looks_eager(const struct judged *j, size_t cnt, size_t end)
{
	return j[0].class == CLASSIFY_OVERLAP && end < cnt && run_end(j, cnt, end) == cnt &&
	       j[end].class >= CLASSIFY_NONE && j[end].bytes <= EAGER_STEP * j[end - 1].bytes &&
	       j[end - 1].bytes <= EAGER_MAX_BYTES;
}

/* "overlap up to 4 KiB (eager), no overlap above" */
static char *runs_text(const struct judged *j, size_t cnt)
{
	char size[HUMAN_BYTES], *text = NULL, *longer;
	size_t begin, end;

	for (begin = 0; begin < cnt; begin = end) {
		end = run_end(j, cnt, begin);
		human_bytes(size, sizeof(size), (uint64_t)j[end - 1].bytes);
		if (begin == 0 && end == cnt)
			longer = xasprintf("%s at all sizes", words[j[0].class]);
		else if (begin == 0)
			longer = xasprintf("%s up to %s%s", words[j[0].class], size,
					   looks_eager(j, cnt, end) ? " (eager)" : "");
		else if (end < cnt)
			longer = xasprintf("%s, %s up to %s", text, words[j[begin].class], size);
		else
			longer = xasprintf("%s, %s above", text, words[j[begin].class]);
		free(text);
		text = longer;
	}
	return text;
}

char *classify_map(const struct result *r)
{
	struct judged *j;
	struct samples sizes;
	char *text;
	size_t cnt;

	samples_init(&sizes);
	classify_values(r, "bytes", &sizes);
	j = xcalloc(sizes.cnt + 1, sizeof(*j));
	cnt = judge(r, &sizes, j);
	merge_odd(j, cnt);
	text = runs_text(j, cnt);
	free(j);
	samples_release(&sizes);
	return text;
}
