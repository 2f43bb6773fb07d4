/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Results are matched by benchmark and number of ranks, points by their parameters. Interrupted
 * results are left out with a warning, because the set of their points depends on when they ended.
 */
#include "compare/collect.h"

#include "lib/log.h"
#include "core/param_text.h"
#include "core/result_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t collect_launches(const struct compare_result *r)
{
	return r->launch_cnt[A] + r->launch_cnt[B];
}

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
		if (result_is_of(r, benchmark, ranks, NULL) && !result_is_part(r))
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
	int side;

	for (side = 0; side < SIDES; side++) {
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
	c->result = xrealloc(c->result, (c->cnt + 1) * sizeof(*c->result));
	c->result[c->cnt++] = *r;
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
		log_error("%s and %s: %s has no point that all launches have: they are of other "
			  "sizes or times; there is nothing to compare",
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
	int side, err;
	size_t i;

	*c = (struct comparison){.file = {{.path = a}, {.path = b}}};
	for (side = 0; side < SIDES; side++)
		c->alone[side] = json_array();
	err = result_read(a, "", &c->file[A].root);
	if (!err)
		err = result_read(b, "", &c->file[B].root);
	for (side = 0; side < SIDES && !err; side++) {
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
	size_t i;
	int side;

	for (i = 0; i < c->cnt; i++)
		result_release(&c->result[i]);
	free(c->result);
	for (side = 0; side < SIDES; side++) {
		json_decref(c->file[side].root);
		json_decref(c->alone[side]);
	}
}
