/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Picking and summarising points, and putting sentences together, for all rules. */
#include "core/classify_list.h"

#include <math.h>
#include <stdlib.h>

#include "lib/log.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void classify_values(const struct result *r, const char *param, struct samples *out)
{
	size_t i, kept = 0;
	double v;

	samples_clear(out);
	for (i = 0; i < result_point_cnt(r); i++) {
		v = result_number(result_point_at(r, i), param);
		if (!isnan(v))
			samples_add(out, v);
	}
	if (!out->cnt)
		return;
	qsort(out->value, out->cnt, sizeof(*out->value), compare);
	for (i = 1; i < out->cnt; i++) {
		if (out->value[i] > out->value[kept])
			out->value[++kept] = out->value[i];
	}
	out->cnt = kept + 1;
}

bool classify_is(const struct result *r, size_t idx, const char *param, double value)
{
	return fabs(result_number(result_point_at(r, idx), param) - value) < 0.5;
}

const char *classify_text(const struct result *r, size_t idx, const char *param)
{
	const json_t *points = json_object_get(result_json(r), "points");
	const char *text = json_string_value(json_object_get(json_array_get(points, idx), param));

	return text ? text : "";
}

char *classify_joined(char *text, char *more, const char *separator)
{
	char *both;

	if (!text)
		return more;
	both = xasprintf("%s%s%s", text, separator, more);
	free(text);
	free(more);
	return both;
}

static double end_of(const struct result *r, const char *param, bool last)
{
	struct samples s;
	double v;

	samples_init(&s);
	classify_values(r, param, &s);
	v = s.cnt ? s.value[last ? s.cnt - 1 : 0] : NAN;
	samples_release(&s);
	return v;
}

double classify_first(const struct result *r, const char *param)
{
	return end_of(r, param, false);
}

double classify_last(const struct result *r, const char *param)
{
	return end_of(r, param, true);
}
