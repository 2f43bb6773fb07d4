/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A point is identified by its parameters, written as text. A launch lacks a point if its time is
 * missing or not above 0.
 */
#include "compare/collect.h"

#include "lib/human.h"
#include "lib/log.h"
#include "core/param_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 1e30 /* larger numbers are no times */

/* Names of main times. The first that a point has is the one to compare. */
static const char *const main_times[] = {"measured", "latency", "full", "send", "wtime", "oli"};

/* True for values that the benchmark chooses or finds itself, so that they differ in each run. */
static bool is_found(const char *name)
{
	return !strcmp(name, "delay_ns") || !strcmp(name, "blank");
}

static bool is_param(const char *name, const json_t *value)
{
	return (json_is_integer(value) || json_is_string(value)) && !is_found(name);
}

/* Writes the parameters with sorted names. The caller frees the text. */
static char *key_of(const json_t *point)
{
	json_t *params = json_object(), *value;
	const char *name;
	char *key;

	json_object_foreach((json_t *)point, name, value)
	{
		if (is_param(name, value))
			json_object_set(params, name, value);
	}
	key = json_dumps(params, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(params);
	if (!key)
		die("out of memory (a point)");
	return key;
}

static double time_figure(const json_t *point, const char *time, const char *name)
{
	const json_t *summary = json_object_get(json_object_get(point, "times"), time);
	const json_t *value = json_object_get(summary, name);
	double number = json_is_number(value) ? json_number_value(value) : NAN;

	return number > 0 && number < NUMBER_MAX ? number : NAN;
}

/* Returns null if the point has none of them. */
static const char *main_time(const json_t *point)
{
	json_t *times = json_object_get(point, "times"), *value;
	const char *name;
	size_t i;

	for (i = 0; i < sizeof(main_times) / sizeof(main_times[0]); i++) {
		if (json_object_get(times, main_times[i]))
			return main_times[i];
	}
	json_object_foreach(times, name, value) return name;
	return NULL;
}

/* Counts, by the point's key, the launches with a known time. */
static void count_points(const json_t *result, json_t *counts)
{
	const json_t *list = json_object_get(result, "points"), *point;
	json_t *own = json_object();
	const char *key;
	json_t *one;
	size_t i;

	json_array_foreach(list, i, point)
	{
		const char *time = main_time(point);
		char *name;

		if (!time || isnan(time_figure(point, time, "median")))
			continue;
		name = key_of(point);
		json_object_set_new(own, name, json_true());
		free(name);
	}
	json_object_foreach(own, key, one)
	{
		json_int_t cnt = json_integer_value(json_object_get(counts, key));

		json_object_set_new(counts, key, json_integer(cnt + 1));
	}
	json_decref(own);
}

/* Indexes of points in the result, by key, in the order of A's first launch. */
static json_t *place_points(struct compare_result *r, const json_t *counts)
{
	const json_t *list = json_object_get(r->result[A][0], "points"), *point;
	json_int_t all = (json_int_t)collect_launches(r);
	json_t *places = json_object();
	size_t i;

	r->point = xcalloc(json_array_size(list) + 1, sizeof(*r->point));
	json_array_foreach(list, i, point)
	{
		char *key = key_of(point);

		if (json_integer_value(json_object_get(counts, key)) == all &&
		    !json_object_get(places, key)) {
			json_object_set_new(places, key, json_integer((json_int_t)r->point_cnt));
			r->point[r->point_cnt++] = (struct compare_point){
				.json = point,
				.time = main_time(point),
				.low = {NAN, NAN},
				.high = {NAN, NAN},
			};
		}
		free(key);
	}
	r->uneven_cnt = json_object_size(counts) - r->point_cnt;
	return places;
}

static void fill_launch(struct compare_result *r, const json_t *places, int side, size_t launch)
{
	const json_t *list = json_object_get(r->result[side][launch], "points"), *point;
	size_t i, at, row = collect_launches(r);

	json_array_foreach(list, i, point)
	{
		char *key = key_of(point);
		const json_t *place = json_object_get(places, key);
		struct compare_point *p;

		free(key);
		if (!place)
			continue;
		at = (size_t)json_integer_value(place);
		p = &r->point[at];
		r->time[at * row + (side == B ? r->launch_cnt[A] : 0) + launch] =
			time_figure(point, p->time, "median");
		if (!launch) {
			p->low[side] = time_figure(point, p->time, "ci_low");
			p->high[side] = time_figure(point, p->time, "ci_high");
		}
	}
}

/* Drops points that lack a launch's time, because that launch has a time of another name. */
static void drop_incomplete(struct compare_result *r)
{
	size_t row = collect_launches(r), i, k, kept = 0;

	for (i = 0; i < r->point_cnt; i++) {
		for (k = 0; k < row && r->time[i * row + k] > 0; k++)
			;
		if (k < row) {
			r->uneven_cnt++;
			continue;
		}
		r->point[kept] = r->point[i];
		memmove(r->time + kept * row, r->time + i * row, row * sizeof(*r->time));
		kept++;
	}
	r->point_cnt = kept;
}

void points_gather(struct compare_result *r)
{
	json_t *counts = json_object(), *places;
	size_t i;
	int side;

	for (side = 0; side < SIDES; side++) {
		for (i = 0; i < r->launch_cnt[side]; i++)
			count_points(r->result[side][i], counts);
	}
	places = place_points(r, counts);
	r->time = xcalloc(r->point_cnt * collect_launches(r) + 1, sizeof(*r->time));
	for (side = 0; side < SIDES; side++) {
		for (i = 0; i < r->launch_cnt[side]; i++)
			fill_launch(r, places, side, i);
	}
	drop_incomplete(r);
	json_decref(places);
	json_decref(counts);
}

/* ---- in words ---- */

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

/* The caller frees. */
static char *param_text(const char *name, const json_t *value)
{
	json_int_t number = json_integer_value(value);
	char buf[HUMAN_BYTES];

	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	if (number >= 0 && ends_in(name, "bytes"))
		return xstrdup(param_bytes(buf, sizeof(buf), (uint64_t)number));
	if (number >= 0 && ends_in(name, "_ns"))
		return xstrdup(param_ns(buf, sizeof(buf), (uint64_t)number));
	return xasprintf("%s %" JSON_INTEGER_FORMAT, name, number);
}

char *collect_point_name(const json_t *point)
{
	char *all = xstrdup(""), *one, *more;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)point, name, value)
	{
		if (!is_param(name, value))
			continue;
		one = param_text(name, value);
		more = xasprintf("%s%s%s", all, *all ? ", " : "", one);
		free(one);
		free(all);
		all = more;
	}
	return all;
}
