/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Numbers are added, lists are appended; names are settled once a library is complete, for a file may have many of them. */
#include "trace/trace_probes.h"

#include <stdlib.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/map.h"

static void number_add(json_t *to, const json_t *from, const char *key)
{
	int64_t sum;

	if (!__builtin_add_overflow(json_get_int(to, key), json_get_int(from, key), &sum))
		json_object_set_new(to, key, json_integer(sum));
}

static void list_add(json_t *to, const json_t *from, const char *key)
{
	const json_t *more = json_object_get(from, key);

	if (!json_is_array(more))
		return;
	if (!json_is_array(json_object_get(to, key)))
		json_object_set_new(to, key, json_array());
	json_array_extend(json_object_get(to, key), (json_t *)more);
}

static void names_add(json_t *set, const json_t *names)
{
	const char *name;

	for (size_t i = 0; i < json_array_size(names); i++) {
		name = json_string_value(json_array_get(names, i));
		if (name)
			json_object_set_new(set, name, json_true());
	}
}

static void probes_add(json_t *library, const json_t *probes, json_t *found)
{
	number_add(library, probes, "attached");
	number_add(library, probes, "emulated");
	number_add(library, probes, "stepped");
	list_add(library, probes, "stepped_names");
	list_add(library, probes, "missing");
	list_add(library, probes, "failed");
	if (json_object_get(probes, "refused"))
		json_object_set(library, "refused", json_object_get(probes, "refused"));
	names_add(found, json_object_get(probes, "functions"));
}

/* What no symbol named may have been found by its address; and what is missing may have been said more than once. */
static void missing_settle(json_t *library, json_t *found)
{
	const json_t *names = json_object_get(library, "missing");
	json_t *left = json_array();
	const char *name;

	for (size_t i = 0; i < json_array_size(names); i++) {
		name = json_string_value(json_array_get(names, i));
		if (!name || json_object_get(found, name))
			continue;
		json_object_set_new(found, name, json_true());
		json_array_append(left, json_array_get(names, i));
	}
	json_object_set_new(library, "missing", left);
}

void trace_probes_fold(json_t *library, const json_t *probes)
{
	json_t *found = json_object();

	probes_add(library, probes, found);
	missing_settle(library, found);
	json_decref(found);
}

struct probed {
	json_t *library; /* the latest of its number */
	json_t *found;	 /* by objects "probes"; NULL: there are none */
};

/* No more objects tell of it. */
static void probed_free(void *value)
{
	struct probed *p = value;

	if (p && p->found)
		missing_settle(p->library, p->found);
	if (p)
		json_decref(p->found);
	free(p);
}

void trace_probes_fold_all(json_t *const *meta, size_t cnt)
{
	struct map by_id = {0};
	struct probed *p;

	for (size_t i = 0; i < cnt; i++) {
		if (json_is_type(meta[i], "library")) {
			p = xcalloc(1, sizeof(*p));
			p->library = meta[i];
			probed_free(map_set(&by_id, json_get_u64(meta[i], "id"), p));
		} else if (json_is_type(meta[i], "probes")) {
			p = map_get(&by_id, json_get_u64(meta[i], "library"));
			if (!p)
				continue;
			p->found = p->found ?: json_object();
			probes_add(p->library, meta[i], p->found);
		}
	}
	map_free(&by_id, probed_free);
}
