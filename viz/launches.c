/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Combines launches: their results are gathered in lists, the results of a list in lists of
 * points, and so on down to numbers. Samples of all launches are concatenated. Quantiles of a
 * distribution are combined by medians, like other numbers.
 */

#include "core/param_text.h"
#include "data.h"

#include "lib/log.h"
#include "core/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Names of main times. The first one that a result has counts. */
static const char *const main_times[] = {"measured", "latency", "full", "send", "wtime"};

/*
 * Collects numbers from a list, ascending: each element's member of that name or, if NULL, its
 * idx-th element.
 */
static struct samples numbers_of(const json_t *list, const char *name, size_t idx)
{
	struct samples n = {0};
	const json_t *one, *value;
	size_t i;

	json_array_foreach(list, i, one)
	{
		value = name ? json_object_get(one, name) : json_array_get(one, idx);
		if (json_is_number(value))
			samples_add(&n, json_number_value(value));
	}
	if (n.cnt)
		qsort(n.value, n.cnt, sizeof(double), stats_compare);
	return n;
}

static double median_of(const struct samples *n)
{
	return (n->value[(n->cnt - 1) / 2] + n->value[n->cnt / 2]) / 2;
}

/* Collects that member of all elements that have it. The caller releases it. */
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

/* All members of all elements, each from the first element that has it. The caller releases it. */
static json_t *union_of(const json_t *list)
{
	json_t *out = json_object(), *one;
	size_t i;

	json_array_foreach(list, i, one) json_object_update_missing(out, one);
	return out;
}

/*
 * Medians of all members that are numbers in at least half of the elements. The caller releases
 * it.
 */
static json_t *median_object(const json_t *list)
{
	json_t *names = union_of(list), *out = json_object(), *value;
	const char *name;

	json_object_foreach(names, name, value)
	{
		struct samples n = numbers_of(list, name, 0);

		if (n.cnt && 2 * n.cnt >= json_array_size(list))
			json_object_set_new(out, name, json_real(median_of(&n)));
		samples_release(&n);
	}
	json_decref(names);
	return out;
}

/* ---- a time ---- */

/* Adds the interval of a median over launches, by ranks, like povbench's interval over samples. */
static void put_interval(json_t *out, const json_t *list, const char *name, const char *low_name,
			 const char *high_name)
{
	struct samples n = numbers_of(list, name, 0);
	struct summary sum;

	stats_summarize(&n, &sum);
	if (n.cnt) {
		json_object_set_new(out, low_name, json_real(sum.ci_low));
		json_object_set_new(out, high_name, json_real(sum.ci_high));
	}
	samples_release(&n);
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
	size_t cnt = json_array_size(json_array_get(lists, 0));

	for (size_t k = 0; k < cnt; k++) {
		struct samples n = numbers_of(lists, NULL, k);

		if (n.cnt)
			json_array_append_new(medians, json_real(median_of(&n)));
		samples_release(&n);
	}
	if (cnt)
		json_object_set(out, "quantiles", medians);
	json_decref(medians);
	json_decref(lists);
}

static json_t *median_times(const json_t *points)
{
	json_t *all = members(points, "times"), *names = union_of(all), *out = json_object();
	json_t *summaries, *time, *value;
	const char *name;

	json_object_foreach(names, name, value)
	{
		summaries = members(all, name);
		time = median_object(summaries);
		put_interval(time, summaries, "median", "ci_low", "ci_high");
		put_samples(time, summaries);
		put_quantiles(time, summaries);
		json_object_set_new(out, name, time);
		json_decref(summaries);
	}
	json_decref(names);
	json_decref(all);
	return out;
}

/* ---- points ---- */

/* Among the medians of values, only the ratio gets an interval. */
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
	json_t *out = union_of(points), *values = median_values(points);

	/* A point is blank only if too few launches have a ratio for it. */
	if (json_object_get(values, "ratio"))
		json_object_del(out, "blank");
	json_object_set_new(out, "times", median_times(points));
	json_object_set_new(out, "values", values);
	return out;
}

/* Makes a list of points for each place, in the order of first appearance. */
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
			key = params_key(point);
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

/* The main time of a point; 0 if it has none. */
static double main_ns(const json_t *point)
{
	const json_t *times = json_object_get(point, "times"), *time;
	double ns = 0;

	for (size_t i = 0; i < sizeof(main_times) / sizeof(main_times[0]) && !(ns > 0); i++) {
		time = json_object_get(times, main_times[i]);
		ns = json_number_value(json_object_get(time, "median"));
	}
	return ns > 0 ? ns : 0;
}

/* The mean logarithm of the main times. */
static double length_of(const json_t *result)
{
	const json_t *points = json_object_get(result, "points"), *point;
	double sum = 0, cnt = 0;
	size_t i;

	json_array_foreach(points, i, point)
	{
		if (main_ns(point) > 0) {
			sum += log(main_ns(point));
			cnt++;
		}
	}
	return cnt > 0 ? sum / cnt : 0;
}

/* The result in the middle; with an even number, the shorter of the two. */
static const json_t *middle_of(const json_t *results)
{
	size_t cnt = json_array_size(results), i;
	double *length = xcalloc(2 * cnt, sizeof(*length)), *sorted = length + cnt;

	for (i = 0; i < cnt; i++)
		sorted[i] = length[i] = length_of(json_array_get(results, i));
	qsort(sorted, cnt, sizeof(*sorted), stats_compare);
	for (i = 0; length[i] != sorted[(cnt - 1) / 2]; i++)
		;
	free(length);
	return json_array_get(results, i);
}

static void put_sentence(json_t *out, const json_t *results)
{
	const char *text = json_string_value(json_object_get(middle_of(results), "sentence"));

	if (text && *text)
		json_object_set_new(out, "sentence",
				    json_sprintf("%s (the middle one of %zu launches)", text,
						 json_array_size(results)));
	else
		json_object_del(out, "sentence");
}

/* Combines results. A single result is returned as it is. */
static json_t *median_result(const json_t *results)
{
	json_t *out = json_copy(json_array_get(results, 0)), *points, *lists, *list;
	size_t cnt = json_array_size(results), i;

	json_object_set_new(out, "launches", json_integer((json_int_t)cnt));
	if (cnt == 1)
		return out;
	points = json_array();
	lists = gather_points(results);
	json_array_foreach(lists, i, list) json_array_append_new(points, median_point(list));
	json_decref(lists);
	json_object_set_new(out, "points", points);
	put_sentence(out, results);
	return out;
}

static bool same_member(const json_t *a, const json_t *b, const char *name)
{
	const json_t *x = json_object_get(a, name), *y = json_object_get(b, name);

	return (!x && !y) || json_equal(x, y);
}

/* Finds the list of results of the same benchmark, ranks and options. */
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

/* Drops partial results if the group has a complete one. */
static void group_drop_partial(json_t *group)
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
		group_drop_partial(group);
		json_array_append_new(out, median_result(group));
	}
	json_decref(groups);
	return out;
}
