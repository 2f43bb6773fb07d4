/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Follows objects and arrays down to plain values. Measured numbers (reals, and the clock's) are
 * never equal; they count as different if their medians differ by 2 % or more. The date of a
 * launch does not count.
 */
#include "compare/compare.h"

#include "lib/log.h"
#include "core/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REAL_LEAST 0.02
#define VALUE_BYTES 60 /* greatest length of a value in text */

static bool is_left_out(const char *path)
{
	return !strcmp(path, "date") || !strcmp(path, "clock.read_ns") ||
	       !strcmp(path, "clock.step_ns");
}

/* Adds the value to the list of its name. A list has a value for each launch that has one. */
static void value_flatten(const json_t *value, const char *path, json_t *lists)
{
	const char *key;
	json_t *child, *list;
	char *name;
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach((json_t *)value, key, child)
		{
			name = *path ? xasprintf("%s.%s", path, key) : xstrdup(key);
			value_flatten(child, name, lists);
			free(name);
		}
		return;
	}
	if (json_is_array(value)) {
		json_array_foreach(value, i, child)
		{
			name = xasprintf("%s[%zu]", path, i);
			value_flatten(child, name, lists);
			free(name);
		}
		return;
	}
	if (!value || is_left_out(path))
		return;
	list = json_object_get(lists, path);
	if (!list) {
		list = json_array();
		json_object_set_new(lists, path, list);
	}
	json_array_append(list, (json_t *)value);
}

static bool all_real(const json_t *list)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (!json_is_real(one))
			return false;
	}
	return json_array_size(list) > 0;
}

static double median_of(const json_t *list)
{
	struct samples s = {0};
	const json_t *one;
	double median;
	size_t i;

	json_array_foreach(list, i, one) samples_add(&s, json_number_value(one));
	median = stats_quantile(&s, 0.5);
	samples_release(&s);
	return median;
}

static bool numbers_differ(double x, double y)
{
	return fabs(x - y) > REAL_LEAST * fmin(fabs(x), fabs(y));
}

/* The distinct values of a list. The caller releases it. */
static json_t *set_of(const json_t *list)
{
	json_t *set = json_array(), *one;
	size_t i, k;

	json_array_foreach(list, i, one)
	{
		for (k = 0; k < json_array_size(set) && !json_equal(json_array_get(set, k), one);
		     k++)
			;
		if (k == json_array_size(set))
			json_array_append(set, one);
	}
	return set;
}

/* The values in one file: null, one value, or an array of several. The caller releases it. */
static json_t *value_of(const json_t *list)
{
	json_t *set, *value;

	if (!list)
		return json_null();
	if (all_real(list))
		return json_real(median_of(list));
	set = set_of(list);
	if (json_array_size(set) > 1)
		return set;
	value = json_incref(json_array_get(set, 0));
	json_decref(set);
	return value;
}

static bool values_differ(const json_t *a, const json_t *b)
{
	if (json_is_real(a) && json_is_real(b))
		return numbers_differ(json_number_value(a), json_number_value(b));
	return !json_equal(a, b);
}

static void add_differing(json_t *out, const char *before, const char *name, const json_t *a,
			  const json_t *b)
{
	json_t *x = value_of(a), *y = value_of(b);
	char *full = xasprintf("%s%s", before, name);

	if (values_differ(x, y))
		json_array_append_new(out,
				      json_pack("{s:s, s:O, s:O}", "name", full, "a", x, "b", y));
	free(full);
	json_decref(x);
	json_decref(y);
}

/* Takes ownership of a and b. */
static void add_lists(json_t *out, const char *before, json_t *a, json_t *b)
{
	const char *name;
	json_t *list;

	json_object_foreach(a, name, list)
		add_differing(out, before, name, list, json_object_get(b, name));
	json_object_foreach(b, name, list)
	{
		if (!json_object_get(a, name))
			add_differing(out, before, name, NULL, list);
	}
	json_decref(a);
	json_decref(b);
}

static json_t *factors_of(const struct compare_file *f)
{
	const json_t *launches = json_object_get(f->root, "launches"), *launch;
	json_t *lists = json_object();
	size_t i;

	json_array_foreach(launches, i, launch)
		value_flatten(json_object_get(launch, "factors"), "", lists);
	return lists;
}

static json_t *options_of(const struct compare_result *r, int side)
{
	json_t *lists = json_object();

	for (size_t i = 0; i < r->launch_cnt[side]; i++)
		value_flatten(json_object_get(r->result[side][i], "options"), "", lists);
	return lists;
}

json_t *factors_differing(const struct comparison *c)
{
	json_t *out = json_array();
	char *before;

	add_lists(out, "", factors_of(&c->file[A]), factors_of(&c->file[B]));
	for (size_t i = 0; i < c->cnt; i++) {
		before = xasprintf("options of %s: ", c->result[i].benchmark);
		add_lists(out, before, options_of(&c->result[i], A), options_of(&c->result[i], B));
		free(before);
	}
	return out;
}

/* ---- launches of one file ---- */

static json_t *factors_of_kind(const struct compare_file *f, const size_t *launch,
			       const bool *named, size_t cnt, bool wanted)
{
	const json_t *launches = json_object_get(f->root, "launches");
	json_t *lists = json_object();

	for (size_t i = 0; i < cnt; i++) {
		if (named[i] == wanted)
			value_flatten(json_object_get(json_array_get(launches, launch[i] - 1),
						      "factors"),
				      "", lists);
	}
	return lists;
}

static void range_of(const json_t *list, double *low, double *high)
{
	const json_t *one;
	size_t i;

	*low = INFINITY;
	*high = -INFINITY;
	json_array_foreach(list, i, one)
	{
		*low = fmin(*low, json_number_value(one));
		*high = fmax(*high, json_number_value(one));
	}
}

/* True if all values of one list are on the same side of all values of the other. */
static bool are_separate(const json_t *a, const json_t *b)
{
	double a_low, a_high, b_low, b_high;
	const json_t *x, *y;
	size_t i, k;

	if (all_real(a) && all_real(b)) {
		range_of(a, &a_low, &a_high);
		range_of(b, &b_low, &b_high);
		return (a_high < b_low || b_high < a_low) &&
		       numbers_differ(median_of(a), median_of(b));
	}
	json_array_foreach(a, i, x)
	{
		json_array_foreach(b, k, y)
		{
			if (json_equal(x, y))
				return false;
		}
	}
	return true;
}

json_t *factors_of_named(const struct compare_file *f, const size_t *launch, const bool *named,
			 size_t cnt)
{
	json_t *ours = factors_of_kind(f, launch, named, cnt, true);
	json_t *others = factors_of_kind(f, launch, named, cnt, false), *list, *other;
	json_t *found = NULL;
	const char *name;

	json_object_foreach(ours, name, list)
	{
		other = json_object_get(others, name);
		if (!other || !are_separate(list, other))
			continue;
		found = json_pack("{s:s, s:o, s:o}", "name", name, "named", value_of(list),
				  "others", value_of(other));
		break;
	}
	json_decref(ours);
	json_decref(others);
	return found;
}

char *factors_text(const json_t *value)
{
	char *dump, *text;
	int len;

	if (json_is_null(value))
		return xstrdup("none");
	dump = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(4));
	if (!dump)
		return xstrdup("?");
	len = (int)strlen(dump);
	/* Do not cut within a multi-byte character. */
	if (len > VALUE_BYTES)
		for (len = VALUE_BYTES; len > 0 && (dump[len] & 0xc0) == 0x80; len--)
			;
	text = xasprintf("%.*s%s", len, dump, dump[len] ? "…" : "");
	free(dump);
	return text;
}
