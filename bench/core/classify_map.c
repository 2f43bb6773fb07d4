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
#define AT_ONCE_SHARE 0.1 /* of T_comm */
#define IDLE_NS_MAX 500.0 /* a call takes that at most, and reading the clock */
#define WAITING_SHARE 0.25

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

/* T_comp in terms of T_comm. */
static double comp_share(const struct result_point *p)
{
	return result_number(p, "comp") / result_number(p, "comm");
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
		distance = exp(fabs(log(comp_share(p))));
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

/* ---- eager ---- */

struct judged {
	double bytes;
	enum classify_overlap class;
	enum done { DONE_UNKNOWN, DONE_AT_ONCE, DONE_BY_WAITING } done;
};

/* What a Wait takes in which nothing is left to be done. */
static double idle_wait(const struct result *r)
{
	double least = IDLE_NS_MAX;
	size_t i;

	for (i = 0; i < result_point_cnt(r); i++)
		least = fmin(least, result_number(result_point_at(r, i), "send_wait"));
	return least;
}

static enum done done_of(const struct result *r, double bytes, double idle_ns)
{
	const struct result_point *p;
	struct samples share;
	enum done done = DONE_UNKNOWN;
	double median;
	size_t i;

	samples_init(&share);
	for (i = 0; i < result_point_cnt(r); i++) {
		p = result_point_at(r, i);
		/* Where it could have been done before the Wait. */
		if (classify_is(r, i, "bytes", bytes) && comp_share(p) >= 1 &&
		    comp_share(p) <= NEAREST && !isnan(result_number(p, "send_wait")))
			samples_add(&share, (result_number(p, "send_wait") - idle_ns) /
						    result_number(p, "comm"));
	}
	median = stats_quantile(&share, 0.5);
	if (share.cnt && median <= AT_ONCE_SHARE)
		done = DONE_AT_ONCE;
	else if (share.cnt && median >= WAITING_SHARE)
		done = DONE_BY_WAITING;
	samples_release(&share);
	return done;
}

static size_t run_end(const struct judged *j, size_t cnt, size_t begin)
{
	size_t end = begin + 1;

	while (end < cnt && j[end].class == j[begin].class)
		end++;
	return end;
}

/*
 * The index behind the last size that was done before its Wait; 0: there is no such change. One size between may be
 * neither: the first part of a rendezvous may be sent like an eager message.
 */
static size_t end_by_wait(const struct judged *j, size_t cnt)
{
	size_t end = 0, i;

	while (end < cnt && j[end].done == DONE_AT_ONCE)
		end++;
	if (end == cnt)
		return 0;
	for (i = j[end].done == DONE_UNKNOWN ? end + 1 : end; i < cnt; i++) {
		if (j[i].done != DONE_BY_WAITING)
			return 0;
	}
	return j[cnt - 1].done == DONE_BY_WAITING ? end : 0;
}

/* The index behind the first run if it overlaps and the only other one does not; else 0. */
static size_t end_by_overlap(const struct judged *j, size_t cnt)
{
	size_t end = cnt ? run_end(j, cnt, 0) : 0;

	if (end == cnt || j[0].class != CLASSIFY_OVERLAP || j[end].class < CLASSIFY_NONE)
		return 0;
	return run_end(j, cnt, end) == cnt ? end : 0;
}

/* The index behind the last size that looks eager; 0: none does. */
static size_t eager_end(const struct judged *j, size_t cnt, bool has_waits)
{
	size_t end = has_waits ? end_by_wait(j, cnt) : end_by_overlap(j, cnt);

	if (!end || j[end].bytes > EAGER_STEP * j[end - 1].bytes ||
	    j[end - 1].bytes > EAGER_MAX_BYTES)
		return 0;
	return end;
}

/* ---- the sentence ---- */

/* Sizes that are judged; returns their number. */
static size_t judge(const struct result *r, const struct samples *sizes, struct judged *out)
{
	double idle_ns = idle_wait(r);
	size_t i, cnt = 0;

	for (i = 0; i < sizes->cnt; i++) {
		out[cnt].bytes = sizes->value[i];
		out[cnt].class = class_of(size_ratio(r, sizes->value[i]));
		out[cnt].done = done_of(r, sizes->value[i], idle_ns);
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
		if (j[i - 1].done == j[i + 1].done)
			j[i].done = j[i - 1].done;
	}
}

/* "overlap up to 4 KiB (eager), no overlap above" */
static char *runs_text(const struct judged *j, size_t cnt, bool has_waits)
{
	char size[HUMAN_BYTES], *text = NULL, *longer;
	size_t begin, end, eager = eager_end(j, cnt, has_waits);
	bool said = !eager;

	for (begin = 0; begin < cnt; begin = end) {
		end = run_end(j, cnt, begin);
		human_bytes(size, sizeof(size), (uint64_t)j[end - 1].bytes);
		longer = xasprintf("%s%s%s", text ? text : "", text ? ", " : "",
				   words[j[begin].class]);
		free(text);
		if (end < cnt)
			text = xasprintf("%s up to %s%s", longer, size,
					 end == eager ? " (eager)" : "");
		else
			text = xasprintf("%s %s", longer, begin ? "above" : "at all sizes");
		free(longer);
		said = said || end == eager;
	}
	if (text && !said) {
		human_bytes(size, sizeof(size), (uint64_t)j[eager - 1].bytes);
		longer = xasprintf("%s; eager up to %s", text, size);
		free(text);
		text = longer;
	}
	return text;
}

static bool has_waits(const struct result *r)
{
	size_t i;

	for (i = 0; i < result_point_cnt(r); i++) {
		if (!isnan(result_number(result_point_at(r, i), "send_wait")))
			return true;
	}
	return false;
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
	text = runs_text(j, cnt, has_waits(r));
	if (!text && sizes.cnt)
		text = xstrdup("not judged, as no computation was of like length");
	free(j);
	samples_release(&sizes);
	return text;
}
