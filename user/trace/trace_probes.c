/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Numbers are added, lists are appended. Names are settled only once a library is complete, because
 * a file may have many of them.
 */
#include "trace/trace_probes.h"

#include <stdlib.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/map.h"

static void library_add_number(json_t *to, const json_t *from, const char *key)
{
	int64_t sum;

	if (!__builtin_add_overflow(json_get_int(to, key), json_get_int(from, key), &sum))
		json_object_set_new(to, key, json_integer(sum));
}

static void library_append_list(json_t *to, const json_t *from, const char *key)
{
	const json_t *more = json_object_get(from, key);

	if (!json_is_array(more))
		return;
	if (!json_is_array(json_object_get(to, key)))
		json_object_set_new(to, key, json_array());
	json_array_extend(json_object_get(to, key), (json_t *)more);
}

static void set_add_names(json_t *set, const json_t *names)
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
	library_add_number(library, probes, "attached");
	library_add_number(library, probes, "emulated");
	library_add_number(library, probes, "stepped");
	library_append_list(library, probes, "stepped_names");
	library_append_list(library, probes, "missing");
	library_append_list(library, probes, "failed");
	if (json_object_get(probes, "refused"))
		json_object_set(library, "refused", json_object_get(probes, "refused"));
	set_add_names(found, json_object_get(probes, "functions"));
}

/*
 * A function without a symbol may have been found by its address, and a missing one may have been
 * reported more than once.
 */
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
	json_t *library; /* latest library with its number */
	json_t *found;	 /* functions from objects "probes"; NULL: none */
};

/* No more objects refer to this library. */
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
