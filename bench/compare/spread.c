/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* All benchmarks of both files share the risk of naming launches that do not differ. */
#include "compare/compare.h"

#include "lib/log.h"
#include "lib/text.h"
#include "core/param_text.h"
#include "core/stats.h"

#include <math.h>
#include <stdlib.h>

/* ---- launches of two kinds ---- */

/*
 * A launch's place is the median, over the points, of its distance from the launches' median
 * there. The sorted places are cut in two where Student's t of both parts is largest. Such a cut
 * always exists. How large t becomes among launches of one kind is found by drawing from the
 * normal distribution.
 */

/* A user who compares two files should know if one of them contains two kinds of launches. */
#define APART_LEVEL 0.01 /* risk that launches of one kind are reported as two kinds */
#define APART_LEAST 0.02 /* smaller differences are not reported */
#define APART_LAUNCHES 4 /* fewer launches show nothing */

struct apart {
	double ratio; /* time of the named launches over that of the others */
	double p;
};

#define DRAWN 4999
#define SEED 19991106u
#define SPREAD_LEAST 0.001 /* 0.1 %, added to the divisor, for launches that hardly vary */

/* The caller frees. */
static double *find_places(const double *value, size_t point_cnt, size_t cnt)
{
	double *place = xcalloc(cnt, sizeof(*place)), *one = xcalloc(cnt, sizeof(*one));
	double *from = xcalloc(point_cnt * cnt, sizeof(*from));

	for (size_t i = 0; i < point_cnt; i++) {
		double middle;

		for (size_t k = 0; k < cnt; k++)
			one[k] = value[i * cnt + k];
		middle = stats_median(one, cnt);
		for (size_t k = 0; k < cnt; k++)
			from[k * point_cnt + i] = one[k] - middle;
	}
	for (size_t k = 0; k < cnt; k++)
		place[k] = stats_median(from + k * point_cnt, point_cnt);
	free(from);
	free(one);
	return place;
}

/*
 * Returns the largest t of all cuts of sorted values. *cut is the number of values below the cut.
 */
static double best_cut(const double *sorted, size_t cnt, double least, size_t *cut)
{
	double sum = 0, squares = 0, low = 0, best = -1;

	for (size_t i = 0; i < cnt; i++)
		sum += sorted[i];
	for (size_t i = 0; i < cnt; i++)
		squares += (sorted[i] - sum / (double)cnt) * (sorted[i] - sum / (double)cnt);
	for (size_t i = 1; i < cnt; i++) {
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

/* The share of drawn sets of launches of one kind whose best cut has at least this t. */
static double cut_chance(double far, size_t cnt)
{
	double *value = xcalloc(cnt, sizeof(*value));
	size_t reached = 1, cut;
	uint64_t seed = SEED;

	for (size_t i = 0; i < DRAWN; i++) {
		for (size_t k = 0; k < cnt; k++)
			value[k] = random_normal(&seed);
		qsort(value, cnt, sizeof(*value), stats_compare);
		reached += best_cut(value, cnt, 0, &cut) >= far;
	}
	free(value);
	return (double)reached / (DRAWN + 1);
}

/*
 * value[point × cnt + launch] are logarithms of times. Sets named[launch] for launches of the
 * smaller of the two kinds or, if both have equal numbers, of the slower one. Returns false if
 * they appear to be of one kind.
 */
static bool apart_find(const double *value, size_t point_cnt, size_t cnt, double level,
		       struct apart *out, bool *named)
{
	double *place, *sorted, far, border;
	bool slower_named, found = false;
	size_t cut = 0;

	if (cnt < APART_LAUNCHES || !point_cnt)
		return false;
	place = find_places(value, point_cnt, cnt);
	sorted = xmalloc(cnt * sizeof(*sorted));
	for (size_t i = 0; i < cnt; i++)
		sorted[i] = place[i];
	qsort(sorted, cnt, sizeof(*sorted), stats_compare);
	far = best_cut(sorted, cnt, SPREAD_LEAST, &cut);
	slower_named = cnt - cut <= cut;
	border = sorted[cut];
	out->ratio = exp(stats_median(sorted + cut, cnt - cut) - stats_median(sorted, cut));
	if (out->ratio - 1 >= APART_LEAST) {
		out->p = cut_chance(far, cnt);
		found = out->p <= level;
	}
	if (!slower_named)
		out->ratio = 1 / out->ratio;
	for (size_t i = 0; i < cnt; i++)
		named[i] = (place[i] >= border) == slower_named;
	free(sorted);
	free(place);
	return found;
}

/* The logarithms of one side's launches. The caller frees them. */
static double *values_of(const struct compare_result *r, int side)
{
	size_t row = collect_launches(r), cnt = r->launch_cnt[side];
	const double *time = r->time + (side == B ? r->launch_cnt[A] : 0);
	double *value = xcalloc(r->point_cnt * cnt + 1, sizeof(*value));

	for (size_t i = 0; i < r->point_cnt; i++) {
		for (size_t k = 0; k < cnt; k++)
			value[i * cnt + k] = log(time[i * row + k]);
	}
	return value;
}

static json_t *describe(const struct comparison *c, const struct compare_result *r, int side,
			const struct apart *a, const bool *named)
{
	json_t *launches = json_array(), *factor;
	size_t cnt = r->launch_cnt[side];
	json_t *one;

	for (size_t i = 0; i < cnt; i++) {
		if (named[i])
			json_array_append_new(launches,
					      json_integer((json_int_t)r->launch[side][i]));
	}
	one = json_pack("{s:s, s:i, s:o, s:I, s:f, s:f}", "benchmark", r->benchmark, "ranks",
			r->ranks, "launches", launches, "of", (json_int_t)cnt, "ratio", a->ratio,
			"p", a->p);
	factor = factors_of_named(&c->file[side], r->launch[side], named, cnt);
	if (factor)
		json_object_set_new(one, "factor", factor);
	return one;
}

json_t *spread_find(const struct comparison *c, int side)
{
	double level = APART_LEVEL / (double)(c->cnt ? c->cnt : 1);
	json_t *out = json_array();
	struct apart a;

	for (size_t i = 0; i < c->cnt; i++) {
		const struct compare_result *r = &c->result[i];
		bool *named = xcalloc(r->launch_cnt[side] + 1, sizeof(*named));
		double *value = values_of(r, side);

		if (apart_find(value, r->point_cnt, r->launch_cnt[side], level, &a, named))
			json_array_append_new(out, describe(c, r, side, &a, named));
		free(value);
		free(named);
	}
	return out;
}

/* Writes "3, 6 and 9". The caller frees it. */
static char *list_text(const json_t *list)
{
	size_t cnt = json_array_size(list), i;
	char *all = NULL;
	const json_t *one;

	json_array_foreach(list, i, one)
		all = text_joined(all, i + 1 == cnt ? " and " : ", ",
				  xasprintf("%" JSON_INTEGER_FORMAT, json_integer_value(one)));
	return all;
}

/* Writes "; their ops_per_ns is 0.91, the others' 1.0". The caller frees it. */
static char *factor_text(const json_t *factor)
{
	char *ours, *others, *text;

	if (!factor)
		return xstrdup("");
	ours = factors_text(json_object_get(factor, "named"));
	others = factors_text(json_object_get(factor, "others"));
	text = xasprintf("; %s is %s there, %s in the others",
			 json_string_value(json_object_get(factor, "name")), ours, others);
	free(ours);
	free(others);
	return text;
}

char *spread_text(const json_t *one)
{
	const json_t *launches = json_object_get(one, "launches");
	double ratio = json_number_value(json_object_get(one, "ratio"));
	int ranks = (int)json_integer_value(json_object_get(one, "ranks"));
	bool single = json_array_size(launches) == 1;
	char *list = list_text(launches), *factor = factor_text(json_object_get(one, "factor"));
	char *text;

	text = xasprintf("%s, %d rank%s: launch%s %s of %" JSON_INTEGER_FORMAT
			 " %s %.3g %% %s than the others%s",
			 json_string_value(json_object_get(one, "benchmark")), ranks,
			 plural_s(ranks), single ? "" : "es", list,
			 json_integer_value(json_object_get(one, "of")), single ? "is" : "are",
			 100 * fabs(ratio - 1), ratio > 1 ? "slower" : "faster", factor);
	free(factor);
	free(list);
	return text;
}
