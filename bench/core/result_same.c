/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Compares what a user sets or what belongs to the machine, because results with another binding or
 * library setting must not be filed under the first run's factors. It ignores what varies
 * from run to run: date, pace of the computation, cost of reading the clock. It also ignores the
 * thread level, which the benchmark or its options decide.
 */
#include "core/result_file.h"

#include "lib/log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_BYTES 80 /* greatest length of a value in a message */

static const struct {
	const char *factor, *member; /* member: compare only this one; null: all of the factor */
} compared[] = {
	{"povbench", NULL},    {"host", NULL},	     {"kernel", NULL},	  {"cpu", NULL},
	{"clock", "source"},   {"mpi", NULL},	     {"transport", NULL}, {"ranks", NULL},
	{"environment", NULL}, {"components", NULL},
};

/* The first difference, with the path of names from the outermost to the innermost. */
struct difference {
	char path[256];
	const json_t *old, *new; /* null: absent on that side */
};

static bool find_difference(const json_t *a, const json_t *b, const char *path,
			    struct difference *out);

static bool find_in_object(const json_t *a, const json_t *b, const char *path,
			   struct difference *out)
{
	const json_t *both[] = {a, b};
	const char *key;
	bool found = false;
	json_t *value;
	char *name;

	for (int i = 0; i < 2 && !found; i++) {
		json_object_foreach((json_t *)both[i], key, value)
		{
			name = xasprintf("%s.%s", path, key);
			found = find_difference(json_object_get(a, key), json_object_get(b, key),
						name, out);
			free(name);
			if (found)
				break;
		}
	}
	return found;
}

static bool find_in_array(const json_t *a, const json_t *b, const char *path,
			  struct difference *out)
{
	size_t cnt = json_array_size(a) > json_array_size(b) ? json_array_size(a) :
							       json_array_size(b);
	bool found = false;
	char *name;

	for (size_t i = 0; i < cnt && !found; i++) {
		name = xasprintf("%s[%zu]", path, i);
		found = find_difference(json_array_get(a, i), json_array_get(b, i), name, out);
		free(name);
	}
	return found;
}

static bool find_difference(const json_t *a, const json_t *b, const char *path,
			    struct difference *out)
{
	if (!a && !b)
		return false;
	if (json_is_object(a) && json_is_object(b))
		return find_in_object(a, b, path, out);
	if (json_is_array(a) && json_is_array(b))
		return find_in_array(a, b, path, out);
	if (a && b && json_equal(a, b))
		return false;
	snprintf(out->path, sizeof(out->path), "%s", path);
	out->old = a;
	out->new = b;
	return true;
}

/* First cnt elements of an array; other factors are returned unchanged. The caller releases it. */
static json_t *head_of(json_t *factor, size_t cnt)
{
	json_t *head;

	if (!json_is_array(factor))
		return json_incref(factor);
	head = json_copy(factor);
	while (json_array_size(head) > cnt)
		json_array_remove(head, json_array_size(head) - 1);
	return head;
}

static char *value_text(const json_t *value)
{
	char *dump, *text;

	if (!value)
		return xstrdup("none");
	if (json_is_string(value))
		return xasprintf("\"%.*s\"", VALUE_BYTES, json_string_value(value));
	dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	text = xasprintf("%.*s", VALUE_BYTES, dump ? dump : "?");
	free(dump);
	return text;
}

static void difference_report(const char *path, const struct difference *d)
{
	char *old = value_text(d->old), *new = value_text(d->new);

	log_error("%s: holds results measured with another \"%s\" (%s, now %s); name another file",
		  path, d->path, old, new);
	free(old);
	free(new);
}

static bool factor_differs(const char *path, json_t *a, json_t *b, const char *name)
{
	size_t cnt = SIZE_MAX;
	struct difference d;
	bool found;

	if (!strcmp(name, "ranks"))
		cnt = json_array_size(a) < json_array_size(b) ? json_array_size(a) :
								json_array_size(b);
	a = head_of(a, cnt);
	b = head_of(b, cnt);
	found = find_difference(a, b, name, &d);
	if (found)
		difference_report(path, &d);
	json_decref(a);
	json_decref(b);
	return found;
}

int result_same(const char *path, const json_t *old, const json_t *new)
{
	for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); i++) {
		const char *member = compared[i].member;
		json_t *a = json_object_get(old, compared[i].factor);
		json_t *b = json_object_get(new, compared[i].factor);
		char *name = member ? xasprintf("%s.%s", compared[i].factor, member) :
				      xstrdup(compared[i].factor);
		bool differs = factor_differs(path, member ? json_object_get(a, member) : a,
					      member ? json_object_get(b, member) : b, name);

		free(name);
		if (differs)
			return -EEXIST;
	}
	return 0;
}

int result_same_options(const char *path, const char *benchmark, const json_t *old,
			const json_t *new)
{
	struct difference d;
	char *from, *to;

	if (!find_difference(old, new, "options", &d))
		return 0;
	from = value_text(d.old);
	to = value_text(d.new);
	log_error("%s: holds launches of %s with another \"%s\" (%s, now %s); name another file",
		  path, benchmark, d.path, from, to);
	free(from);
	free(to);
	return -EEXIST;
}
