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
#define NAMED_MOST 6 /* sizes of which nothing can be said */

static const char *const words_of[] = {
	[CLASSIFY_UNJUDGED] = "not told",
	[CLASSIFY_OVERLAP] = "overlap",
	[CLASSIFY_PARTIAL] = "partial overlap",
	[CLASSIFY_NONE] = "no overlap",
	[CLASSIFY_WORSE] = "worse than one after the other",
};

/* Of a ratio, with its interval. */
struct ratio {
	double value, low, high;
};

/* What holds at both ends of the interval. */
static enum classify_overlap class_of(const struct ratio *r)
{
	if (isnan(r->value))
		return CLASSIFY_UNJUDGED;
	if (r->high < 0.25)
		return CLASSIFY_OVERLAP;
	if (r->low > 1.25)
		return CLASSIFY_WORSE;
	if (r->low >= 0.75)
		return CLASSIFY_NONE;
	return r->low > 0.1 && r->high < 0.9 ? CLASSIFY_PARTIAL : CLASSIFY_UNJUDGED;
}

/* T_comp in terms of T_comm. */
static double comp_share(const struct result_point *p)
{
	return result_number(p, "comp") / result_number(p, "comm");
}

/* An interval that a result does not have is none at all. */
static struct ratio point_ratio(const struct result_point *p)
{
	struct ratio r = {.value = result_number(p, "ratio")};

	r.low = result_number(p, "ratio_low");
	r.high = result_number(p, "ratio_high");
	if (isnan(r.low) || isnan(r.high))
		r.low = r.high = r.value;
	return r;
}

bool classify_is_wrong(const struct result_point *p)
{
	return !isnan(result_number(p, "too_short_ns"));
}

/* The ratio that a size is judged by; NaN: none. */
static struct ratio size_ratio(const struct result *r, double bytes)
{
	struct ratio nearest_ratio = {NAN, NAN, NAN}, ratio;
	double distance, nearest = NEAREST;
	struct samples value, low, high;
	const struct result_point *p;
	size_t i;

	samples_init(&value);
	samples_init(&low);
	samples_init(&high);
	for (i = 0; i < result_point_cnt(r); i++) {
		p = result_point_at(r, i);
		ratio = point_ratio(p);
		if (!classify_is(r, i, "bytes", bytes) || isnan(ratio.value) ||
		    classify_is_wrong(p))
			continue;
		distance = exp(fabs(log(comp_share(p))));
		if (distance <= LIKE * (1 + 1e-9)) {
			samples_add(&value, ratio.value);
			samples_add(&low, ratio.low);
			samples_add(&high, ratio.high);
		}
		if (distance < nearest) {
			nearest = distance;
			nearest_ratio = ratio;
		}
	}
	ratio = nearest_ratio;
	if (value.cnt)
		ratio = (struct ratio){stats_quantile(&value, 0.5), stats_quantile(&low, 0.5),
				       stats_quantile(&high, 0.5)};
	samples_release(&high);
	samples_release(&low);
	samples_release(&value);
	return ratio;
}

enum classify_overlap classify_size(const struct result *r, uint64_t bytes)
{
	struct ratio ratio = size_ratio(r, (double)bytes);

	return class_of(&ratio);
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

/* Sizes of which something can be said; returns their number. The others are in untold. */
static size_t judge(const struct result *r, const struct samples *sizes, struct judged *out,
		    struct samples *untold)
{
	double idle_ns = idle_wait(r);
	struct ratio ratio;
	size_t i, cnt = 0;

	for (i = 0; i < sizes->cnt; i++) {
		ratio = size_ratio(r, sizes->value[i]);
		out[cnt].bytes = sizes->value[i];
		out[cnt].class = class_of(&ratio);
		out[cnt].done = done_of(r, sizes->value[i], idle_ns);
		if (out[cnt].class == CLASSIFY_UNJUDGED)
			samples_add(untold, sizes->value[i]);
		else
			cnt++;
	}
	return cnt;
}

/* Where a run is: all: of every size. */
static char *where_text(const struct judged *j, size_t begin, size_t end, size_t cnt, bool all)
{
	char from[HUMAN_BYTES], to[HUMAN_BYTES];

	human_bytes(from, sizeof(from), (uint64_t)j[begin].bytes);
	human_bytes(to, sizeof(to), (uint64_t)j[end - 1].bytes);
	if (all && end == cnt)
		return xstrdup(begin ? "above" : "at all sizes");
	if (all)
		return xasprintf("up to %s", to);
	return end - begin == 1 ? xasprintf("at %s", to) : xasprintf("from %s to %s", from, to);
}

/* "overlap up to 4 KiB (eager), no overlap above" */
static char *runs_text(const struct judged *j, size_t cnt, bool has_waits, bool all)
{
	size_t begin, end, eager = eager_end(j, cnt, has_waits);
	char size[HUMAN_BYTES], *text = NULL, *where;
	bool said = !eager;

	for (begin = 0; begin < cnt; begin = end) {
		end = run_end(j, cnt, begin);
		where = where_text(j, begin, end, cnt, all);
		text = classify_joined(text,
				       xasprintf("%s %s%s", words_of[j[begin].class], where,
						 end == eager ? " (eager)" : ""),
				       ", ");
		free(where);
		said = said || end == eager;
	}
	if (text && !said)
		text = classify_joined(
			text,
			xasprintf("eager up to %s",
				  human_bytes(size, sizeof(size), (uint64_t)j[eager - 1].bytes)),
			"; ");
	return text;
}

static char *untold_text(char *text, const struct samples *untold)
{
	char size[HUMAN_BYTES], *sizes = NULL;
	size_t i;

	if (!untold->cnt)
		return text;
	for (i = 0; i < untold->cnt && i < NAMED_MOST; i++)
		sizes = classify_joined(
			sizes, xstrdup(human_bytes(size, sizeof(size), (uint64_t)untold->value[i])),
			", ");
	if (untold->cnt > NAMED_MOST)
		sizes = classify_joined(
			sizes, xasprintf("%zu more sizes", untold->cnt - NAMED_MOST), " and ");
	text = classify_joined(text, xasprintf("not told at %s", sizes), "; ");
	free(sizes);
	return text;
}

static char *wrong_text(char *text, const struct result *r)
{
	size_t i, wrong = 0, cnt = result_point_cnt(r);

	for (i = 0; i < cnt; i++)
		wrong += classify_is_wrong(result_point_at(r, i));
	if (!wrong)
		return text;
	return classify_joined(
		text,
		xasprintf("%zu of %zu points are wrong: both together took less time "
			  "than one of them alone",
			  wrong, cnt),
		"; ");
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
	struct samples sizes, untold;
	struct judged *j;
	char *text;
	size_t cnt;

	samples_init(&sizes);
	samples_init(&untold);
	classify_values(r, "bytes", &sizes);
	j = xcalloc(sizes.cnt + 1, sizeof(*j));
	cnt = judge(r, &sizes, j, &untold);
	text = runs_text(j, cnt, has_waits(r), !untold.cnt);
	if (!text && sizes.cnt)
		text = xstrdup("not told at any size");
	else
		text = untold_text(text, &untold);
	text = wrong_text(text, r);
	free(j);
	samples_release(&untold);
	samples_release(&sizes);
	return text;
}
