/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Launches' results are gathered in lists, results in a list their points, and so on down to numbers. All samples of the launches
 * are put one behind the other, a distribution's quantiles are medians like other numbers.
 */
#include "launches.h"

#include "data.h"

#include "base/log.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define Z_95 1.96
#define RANKS_FROM 6 /* launches; with fewer, the interval's ranks lie beyond them */

/* What a result is about, the first that it has. */
static const char *const main_times[] = {"measured", "latency", "full", "send", "wtime"};

struct numbers {
	double *value; /* owned */
	size_t cnt;
};

static void numbers_add(struct numbers *n, const json_t *value)
{
	if (!json_is_number(value))
		return;
	n->value = xrealloc(n->value, (n->cnt + 1) * sizeof(*n->value));
	n->value[n->cnt++] = json_number_value(value);
}

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts them. */
static double median_of(struct numbers *n)
{
	qsort(n->value, n->cnt, sizeof(*n->value), compare_values);
	return (n->value[(n->cnt - 1) / 2] + n->value[n->cnt / 2]) / 2;
}

/* Of the members of that name that are numbers. NULL: fewer than half have it. */
static json_t *median_member(const json_t *list, const char *name)
{
	struct numbers n = {0};
	json_t *median = NULL;
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one) numbers_add(&n, json_object_get(one, name));
	if (n.cnt && 2 * n.cnt >= json_array_size(list))
		median = json_real(median_of(&n));
	free(n.value);
	return median;
}

/* The members of that name, of those that have it. The caller releases it. */
static json_t *members(const json_t *list, const char *name)
{
	json_t *out = json_array();
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (json_object_get(one, name))
			json_array_append(out, json_object_get(one, name));
	}
	return out;
}

/* ---- a time ---- */

/* Of the median of those members, over the launches. */
static void put_interval(json_t *out, const json_t *summaries, const char *name,
			 const char *low_name, const char *high_name)
{
	size_t low = 0, high, i;
	struct numbers n = {0};
	const json_t *one;
	double spread;

	json_array_foreach(summaries, i, one) numbers_add(&n, json_object_get(one, name));
	if (n.cnt) {
		median_of(&n);
		high = n.cnt - 1;
		spread = Z_95 * sqrt((double)n.cnt);
		if (n.cnt >= RANKS_FROM) {
			low = (size_t)fmax(1, floor(((double)n.cnt - spread) / 2)) - 1;
			high = (size_t)fmin((double)n.cnt, ceil(1 + ((double)n.cnt + spread) / 2)) -
			       1;
		}
		json_object_set_new(out, low_name, json_real(n.value[low]));
		json_object_set_new(out, high_name, json_real(n.value[high]));
	}
	free(n.value);
}

static void put_samples(json_t *out, const json_t *summaries)
{
	json_t *lists = members(summaries, "samples"), *all = json_array(), *one;
	size_t i;

	json_array_foreach(lists, i, one)
	{
		if (json_is_array(one))
			json_array_extend(all, one);
	}
	if (json_array_size(all))
		json_object_set(out, "samples", all);
	json_decref(all);
	json_decref(lists);
}

static void put_quantiles(json_t *out, const json_t *summaries)
{
	json_t *lists = members(summaries, "quantiles"), *medians = json_array();
	size_t cnt = json_array_size(json_array_get(lists, 0)), i, k;
	const json_t *one;

	for (k = 0; k < cnt; k++) {
		struct numbers n = {0};

		json_array_foreach(lists, i, one) numbers_add(&n, json_array_get(one, k));
		if (n.cnt)
			json_array_append_new(medians, json_real(median_of(&n)));
		free(n.value);
	}
	if (cnt)
		json_object_set(out, "quantiles", medians);
	json_decref(medians);
	json_decref(lists);
}

/* Every member that is a number in any of them, with its median over those that have it. */
static json_t *median_object(const json_t *list)
{
	json_t *out = json_object(), *one, *value, *median;
	const char *name;
	size_t i;

	json_array_foreach(list, i, one)
	{
		json_object_foreach(one, name, value)
		{
			median = json_object_get(out, name) ? NULL : median_member(list, name);
			if (median)
				json_object_set_new(out, name, median);
		}
	}
	return out;
}

static json_t *median_times(const json_t *points)
{
	json_t *all = members(points, "times"), *out = json_object(), *value, *summaries, *time;
	const char *name;

	json_object_foreach(json_array_get(all, 0), name, value)
	{
		summaries = members(all, name);
		time = median_object(summaries);
		put_interval(time, summaries, "median", "ci_low", "ci_high");
		put_samples(time, summaries);
		put_quantiles(time, summaries);
		json_object_set_new(out, name, time);
		json_decref(summaries);
	}
	json_decref(all);
	return out;
}

/* ---- points ---- */

/* Of the values' medians only the ratio has an interval. */
static json_t *median_values(const json_t *points)
{
	json_t *all = members(points, "values"), *out = median_object(all);

	if (json_object_get(out, "ratio_low"))
		put_interval(out, all, "ratio", "ratio_low", "ratio_high");
	json_decref(all);
	return out;
}

static json_t *median_point(const json_t *points)
{
	json_t *out = json_object(), *values = median_values(points), *one, *value;
	const char *name;
	size_t i;

	json_array_foreach(points, i, one)
	{
		json_object_foreach(one, name, value)
		{
			if (!json_is_object(value) && !json_object_get(out, name))
				json_object_set(out, name, value);
		}
	}
	/* Blank is what too few launches have a ratio for. */
	if (json_object_get(values, "ratio"))
		json_object_del(out, "blank");
	json_object_set_new(out, "times", median_times(points));
	json_object_set_new(out, "values", values);
	return out;
}

/* A list of points for each place, in the order in which they appear. */
static json_t *gather_points(const json_t *results)
{
	json_t *index = json_object(), *lists = json_array(), *result, *point, *list;
	size_t i, k;
	char *key;

	json_array_foreach(results, i, result)
	{
		json_array_foreach(json_object_get(result, "points"), k, point)
		{
			if (!json_is_object(point))
				continue;
			key = data_point_key(point);
			list = json_object_get(index, key);
			if (!list) {
				list = json_array();
				json_object_set_new(index, key, list);
				json_array_append(lists, list);
			}
			json_array_append(list, point);
			free(key);
		}
	}
	json_decref(index);
	return lists;
}

/* ---- results ---- */

/* The mean logarithm of what it is about. */
static double length_of(const json_t *result)
{
	const json_t *points = json_object_get(result, "points"), *point, *times;
	double sum = 0, cnt = 0, ns;
	size_t i, k;

	json_array_foreach(points, i, point)
	{
		times = json_object_get(point, "times");
		for (k = 0; k < sizeof(main_times) / sizeof(main_times[0]); k++) {
			ns = json_number_value(
				json_object_get(json_object_get(times, main_times[k]), "median"));
			if (!(ns > 0))
				continue;
			sum += log(ns);
			cnt++;
			break;
		}
	}
	return cnt ? sum / cnt : 0;
}

/* The index of the one in the middle, of an even number the shorter one. */
static size_t middle_of(const json_t *results)
{
	size_t cnt = json_array_size(results), i, k;
	double *length = xcalloc(cnt + 1, sizeof(*length));

	for (i = 0; i < cnt; i++)
		length[i] = length_of(json_array_get(results, i));
	for (i = 0; i < cnt; i++) {
		size_t before = 0;

		for (k = 0; k < cnt; k++)
			before += length[k] < length[i] || (length[k] == length[i] && k < i);
		if (before == (cnt - 1) / 2)
			break;
	}
	free(length);
	return i;
}

static void put_sentence(json_t *out, const json_t *results)
{
	const json_t *middle = json_array_get(results, middle_of(results));
	const char *text = json_string_value(json_object_get(middle, "sentence"));

	if (text && *text)
		json_object_set_new(out, "sentence",
				    json_sprintf("%s (the middle one of %zu launches)", text,
						 json_array_size(results)));
	else
		json_object_del(out, "sentence");
}

static json_t *median_result(const json_t *results)
{
	json_t *out = json_copy(json_array_get(results, 0)), *points = json_array(), *lists, *list;
	size_t i;

	lists = gather_points(results);
	json_array_foreach(lists, i, list) json_array_append_new(points, median_point(list));
	json_decref(lists);
	json_object_set_new(out, "points", points);
	json_object_set_new(out, "launches", json_integer((json_int_t)json_array_size(results)));
	put_sentence(out, results);
	return out;
}

static bool same_member(const json_t *a, const json_t *b, const char *name)
{
	const json_t *x = json_object_get(a, name), *y = json_object_get(b, name);

	return (!x && !y) || json_equal(x, y);
}

/* The list of those that are of the same. */
static json_t *group_of(json_t *groups, const json_t *result)
{
	json_t *group;
	size_t i;

	json_array_foreach(groups, i, group)
	{
		const json_t *first = json_array_get(group, 0);

		if (same_member(first, result, "benchmark") &&
		    same_member(first, result, "ranks") && same_member(first, result, "options") &&
		    same_member(first, result, "kind"))
			return group;
	}
	group = json_array();
	json_array_append_new(groups, group);
	return group;
}

static void drop_parts(json_t *group)
{
	size_t whole = 0, i;
	const json_t *one;

	json_array_foreach(group, i, one) whole += !json_is_true(json_object_get(one, "partial"));
	for (i = json_array_size(group); whole && i-- > 0;) {
		if (json_is_true(json_object_get(json_array_get(group, i), "partial")))
			json_array_remove(group, i);
	}
}

json_t *launches_medians(const json_t *launches)
{
	json_t *groups = json_array(), *out = json_array(), *launch, *result, *group;
	size_t i, k;

	json_array_foreach(launches, i, launch)
	{
		json_array_foreach(json_object_get(launch, "results"), k, result)
		{
			if (json_is_object(result))
				json_array_append(group_of(groups, result), result);
		}
	}
	json_array_foreach(groups, i, group)
	{
		drop_parts(group);
		if (json_array_size(group) > 1) {
			json_array_append_new(out, median_result(group));
		} else {
			result = json_copy(json_array_get(group, 0));
			json_object_set_new(result, "launches", json_integer(1));
			json_array_append_new(out, result);
		}
	}
	json_decref(groups);
	return out;
}
