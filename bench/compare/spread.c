/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The risk of naming launches that are like the others is shared by all benchmarks of both files. */
#include "compare/spread.h"

#include "compare/apart.h"
#include "compare/factors.h"

#include "lib/log.h"
#include "core/param_text.h"

#include <math.h>
#include <stdlib.h>

/* The logarithms of one side's launches. The caller frees. */
static double *values_of(const struct compare_result *r, int side)
{
	size_t row = collect_launches(r), cnt = r->launch_cnt[side], i, k;
	const double *time = r->time + (side == B ? r->launch_cnt[A] : 0);
	double *value = xcalloc(r->point_cnt * cnt + 1, sizeof(*value));

	for (i = 0; i < r->point_cnt; i++) {
		for (k = 0; k < cnt; k++)
			value[i * cnt + k] = log(time[i * row + k]);
	}
	return value;
}

static json_t *describe(const struct comparison *c, const struct compare_result *r, int side,
			const struct apart *a, const bool *named)
{
	json_t *launches = json_array(), *factor;
	size_t i, cnt = r->launch_cnt[side];
	json_t *one;

	for (i = 0; i < cnt; i++) {
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
	size_t i;

	for (i = 0; i < c->cnt; i++) {
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

/* "3, 6 and 9". The caller frees. */
static char *list_text(const json_t *list)
{
	size_t cnt = json_array_size(list), i;
	char *all = xstrdup(""), *more;
	const json_t *one;

	json_array_foreach(list, i, one)
	{
		more = xasprintf("%s%s%" JSON_INTEGER_FORMAT, all,
				 !i	      ? "" :
				 i + 1 == cnt ? " and " :
						", ",
				 json_integer_value(one));
		free(all);
		all = more;
	}
	return all;
}

/* "; their ops_per_ns is 0.91, the others' 1.0". The caller frees. */
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
