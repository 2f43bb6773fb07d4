/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Results are matched by benchmark and number of ranks, points by their parameters. Interrupted
 * results are left out with a warning, because the set of their points depends on when they ended.
 */
#include "compare/compare.h"

#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"
#include "core/param_text.h"
#include "core/result_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t collect_launches(const struct compare_result *r)
{
	return r->launch_cnt[A] + r->launch_cnt[B];
}

/* ---- points ---- */

/*
 * A point is identified by its parameters, written as text. A launch lacks a point if its time is
 * missing or not above 0.
 */

#define NUMBER_MAX 1e30 /* larger numbers are no times */

/* Names of main times. The first that a point has is the one to compare. */
static const char *const main_times[] = {"measured", "latency", "full", "send", "wtime", "oli"};

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

	for (size_t i = 0; i < sizeof(main_times) / sizeof(main_times[0]); i++) {
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
		name = params_key(point);
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
		char *key = params_key(point);

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
		char *key = params_key(point);
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
	size_t row = collect_launches(r), k, kept = 0;

	for (size_t i = 0; i < r->point_cnt; i++) {
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

static void points_gather(struct compare_result *r)
{
	json_t *counts = json_object(), *places;

	for (int side = 0; side < SIDES; side++) {
		for (size_t i = 0; i < r->launch_cnt[side]; i++)
			count_points(r->result[side][i], counts);
	}
	places = place_points(r, counts);
	r->time = xcalloc(r->point_cnt * collect_launches(r) + 1, sizeof(*r->time));
	for (int side = 0; side < SIDES; side++) {
		for (size_t i = 0; i < r->launch_cnt[side]; i++)
			fill_launch(r, places, side, i);
	}
	drop_incomplete(r);
	json_decref(places);
	json_decref(counts);
}

/* ---- results ---- */

static json_int_t ranks_of(const json_t *r)
{
	return json_integer_value(json_object_get(r, "ranks"));
}

static const char *name_of(const json_t *r)
{
	return json_string_value(json_object_get(r, "benchmark"));
}

/* The first complete result of that benchmark; null if there is none. */
static const json_t *find_result(const json_t *launch, const char *benchmark, json_int_t ranks)
{
	const json_t *list = json_object_get(launch, "results"), *r;
	size_t i;

	json_array_foreach(list, i, r)
	{
		if (result_is_of(r, benchmark, ranks) && !result_is_part(r))
			return r;
	}
	return NULL;
}

static void gather_side(struct compare_result *r, const struct compare_file *f, int side)
{
	const json_t *launches = json_object_get(f->root, "launches"), *launch, *found;
	size_t cnt = json_array_size(launches), i;

	r->launch[side] = xcalloc(cnt + 1, sizeof(*r->launch[side]));
	r->result[side] = xcalloc(cnt + 1, sizeof(json_t *));
	json_array_foreach(launches, i, launch)
	{
		found = find_result(launch, r->benchmark, r->ranks);
		if (!found)
			continue;
		r->launch[side][r->launch_cnt[side]] = i + 1;
		r->result[side][r->launch_cnt[side]++] = found;
	}
}

static void result_release(struct compare_result *r)
{
	for (int side = 0; side < SIDES; side++) {
		free(r->launch[side]);
		free(r->result[side]);
	}
	free(r->point);
	free(r->time);
}

static void add_alone(struct comparison *c, int side, const struct compare_result *r)
{
	json_array_append_new(c->alone[side], json_sprintf("%s, %d rank%s", r->benchmark, r->ranks,
							   plural_s(r->ranks)));
}

/* Takes ownership of r. */
static void add_result(struct comparison *c, struct compare_result *r)
{
	if (!r->launch_cnt[A] || !r->launch_cnt[B]) {
		add_alone(c, r->launch_cnt[A] ? A : B, r);
		result_release(r);
		return;
	}
	points_gather(r);
	*table_append(c->result, c->cnt) = *r;
}

static bool is_known(const json_t *known, const char *key)
{
	return json_object_get(known, key) != NULL;
}

/* Adds the results that this launch has and no earlier launch had. */
static void add_launch(struct comparison *c, const json_t *launch, json_t *known)
{
	const json_t *list = json_object_get(launch, "results"), *json;
	size_t i;

	json_array_foreach(list, i, json)
	{
		const char *kind = json_string_value(json_object_get(json, "kind"));
		struct compare_result r = {.benchmark = name_of(json),
					   .kind = kind ? kind : "",
					   .ranks = (int)ranks_of(json)};
		char *key;

		if (!r.benchmark || result_is_part(json))
			continue;
		key = xasprintf("%s %d", r.benchmark, r.ranks);
		if (!is_known(known, key)) {
			json_object_set_new(known, key, json_true());
			gather_side(&r, &c->file[A], A);
			gather_side(&r, &c->file[B], B);
			add_result(c, &r);
		}
		free(key);
	}
}

static void parts_report(const struct compare_file *f)
{
	const json_t *launches = json_object_get(f->root, "launches"), *launch, *r;
	size_t i, k;

	json_array_foreach(launches, i, launch)
	{
		json_array_foreach(json_object_get(launch, "results"), k, r)
		{
			if (result_is_part(r) && name_of(r))
				log_warn("%s: launch %zu was broken off within %s, which is left "
					 "out",
					 f->path, i + 1, name_of(r));
		}
	}
}

static int check_common(const struct comparison *c)
{
	size_t i;

	for (i = 0; i < c->cnt && !c->result[i].point_cnt; i++)
		;
	if (i < c->cnt)
		return 0;
	if (c->cnt)
		log_error("%s and %s: nothing to compare: no point of %s is in all launches (their "
			  "message sizes or computation times differ)",
			  c->file[A].path, c->file[B].path, c->result[0].benchmark);
	else
		log_error("%s and %s: have no benchmark in common, with the same number of ranks",
			  c->file[A].path, c->file[B].path);
	return -EINVAL;
}

int collect(struct comparison *c, const char *a, const char *b)
{
	const json_t *launches, *launch;
	json_t *known = json_object();
	int err;
	size_t i;

	*c = (struct comparison){.file = {{.path = a}, {.path = b}}};
	for (int side = 0; side < SIDES; side++)
		c->alone[side] = json_array();
	err = result_read(a, "", &c->file[A].root);
	if (!err)
		err = result_read(b, "", &c->file[B].root);
	for (int side = 0; side < SIDES && !err; side++) {
		parts_report(&c->file[side]);
		launches = json_object_get(c->file[side].root, "launches");
		json_array_foreach(launches, i, launch) add_launch(c, launch, known);
	}
	if (!err)
		err = check_common(c);
	json_decref(known);
	return err;
}

void collect_release(struct comparison *c)
{
	for (size_t i = 0; i < c->cnt; i++)
		result_release(&c->result[i]);
	free(c->result);
	for (int side = 0; side < SIDES; side++) {
		json_decref(c->file[side].root);
		json_decref(c->alone[side]);
	}
}

/* ---- in words ---- */

/* The caller frees. */
static char *param_text(const char *name, const json_t *value)
{
	json_int_t number = json_integer_value(value);
	char buf[HUMAN_BYTES];

	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	if (param_named(buf, sizeof(buf), name, number))
		return xstrdup(buf);
	return xasprintf("%s %" JSON_INTEGER_FORMAT, name, number);
}

char *collect_point_name(const json_t *point)
{
	char *all = xstrdup("");
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)point, name, value)
	{
		if (param_is_given(name, value))
			all = text_joined(all, ", ", param_text(name, value));
	}
	return all;
}
