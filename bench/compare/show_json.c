/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The members are in kmod-docs/BENCH_FORMAT.md. Unknown values are left out. */
#include "compare/show.h"

#include "core/json_put.h"
#include "core/stats.h"

#include <math.h>

#define VERSION 1

static const char *const side_names[SIDES] = {"a", "b"};

static void put_real(json_t *object, const char *key, double value)
{
	if (isfinite(value))
		json_put(object, key, json_real(value));
}

static void put_count(json_t *object, const char *key, size_t value)
{
	json_put(object, key, json_integer((json_int_t)value));
}

static void put_judged(json_t *object, const struct judged *one, bool able)
{
	put_real(object, "ratio", one->ratio.value);
	put_real(object, "low", one->ratio.low);
	put_real(object, "high", one->ratio.high);
	if (able)
		put_real(object, "p", one->p);
	json_put(object, "verdict", json_string(judge_verdict_name(one->verdict)));
}

static double median_of(const double *value, size_t cnt)
{
	const struct samples s = {.value = (double *)value, .cnt = cnt, .room = cnt};

	return stats_quantile(&s, 0.5);
}

/* The point's parameters, then its results. */
static json_t *point_json(const struct compare_result *r, const struct judgement *j, size_t idx)
{
	const double *time = r->time + idx * collect_launches(r);
	const struct compare_point *p = &r->point[idx];
	json_t *out = json_object(), *value;
	const char *name;

	json_object_foreach((json_t *)p->json, name, value)
	{
		if (json_is_integer(value) || json_is_string(value))
			json_object_set(out, name, value);
	}
	json_put(out, "time", json_string(p->time));
	put_real(out, "a_ns", median_of(time, r->launch_cnt[A]));
	put_real(out, "b_ns", median_of(time + r->launch_cnt[A], r->launch_cnt[B]));
	put_judged(out, &j->point[idx], j->able);
	return out;
}

static json_t *result_json_of(const struct compare_result *r, const struct judgement *j)
{
	json_t *out = json_object(), *launches = json_object(), *points = json_array();
	json_t *all = json_object(), *list;
	size_t i;
	int side;

	json_put(out, "benchmark", json_string(r->benchmark));
	json_put(out, "kind", json_string(r->kind));
	json_put(out, "ranks", json_integer(r->ranks));
	for (side = 0; side < SIDES; side++) {
		list = json_array();
		for (i = 0; i < r->launch_cnt[side]; i++)
			json_array_append_new(list, json_integer((json_int_t)r->launch[side][i]));
		json_put(launches, side_names[side], list);
	}
	json_put(out, "launches", launches);
	json_put(out, "interval",
		 json_string(r->launch_cnt[A] == 1 && r->launch_cnt[B] == 1 ? "within" :
									      "launches"));
	put_count(out, "slower", j->slower_cnt);
	put_count(out, "faster", j->faster_cnt);
	put_count(out, "left_out", r->uneven_cnt);
	if (r->point_cnt)
		put_judged(all, &j->all, j->able);
	json_put(out, "all", all);
	for (i = 0; i < r->point_cnt; i++)
		json_array_append_new(points, point_json(r, j, i));
	json_put(out, "points", points);
	return out;
}

static json_t *file_json(const struct shown *s, int side)
{
	const struct compare_file *f = &s->c->file[side];
	json_t *out = json_object();

	json_put(out, "path", json_string(f->path));
	put_count(out, "launches", json_array_size(json_object_get(f->root, "launches")));
	json_object_set(out, "apart", (json_t *)s->spread[side]);
	json_object_set(out, "alone", s->c->alone[side]);
	return out;
}

void show_json(const struct shown *s, FILE *out)
{
	json_t *root = json_object(), *list = json_array();
	size_t i;
	int side;

	json_put(root, "format", json_string("povbench compare"));
	json_put(root, "version", json_integer(VERSION));
	for (side = 0; side < SIDES; side++)
		json_put(root, side_names[side], file_json(s, side));
	json_object_set(root, "differing", (json_t *)s->differing);
	for (i = 0; i < s->c->cnt; i++)
		json_array_append_new(list, result_json_of(&s->c->result[i], &s->j[i]));
	json_put(root, "results", list);
	json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	fputc('\n', out);
	json_decref(root);
}
