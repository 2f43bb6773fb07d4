/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Functions of known libraries that a process has only as pointers: those that it has just
 * received, and those that it received before the recording. inspect_library.c chooses where they
 * are probed.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/code_file.h"
#include "target/handed_ops.h"
#include "target/helper/helper_service.h"
#include "target/helper/inspect.h"
#include "target/helper/library_kind.h"
#include "target/proc.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "layers/func_table.h"

/* ---- functions found at run time ---- */

/* Returns the places [[row, address]] that lie in a mapping, as [[row, file offset]]. */
static json_t *places_in(const struct proc_map *map, const json_t *places)
{
	json_t *in = json_array(), *place;
	size_t i;

	json_array_foreach((json_t *)places, i, place)
	{
		uint64_t addr = (uint64_t)json_integer_value(json_array_get(place, 1));

		if (addr >= map->start && addr < map->end)
			json_array_append_new(
				in, json_pack("[O,I]", json_array_get(place, 0),
					      (json_int_t)(addr - map->start + map->off)));
	}
	return in;
}

/* Reports more probes in a known library. */
static void more_report(struct service *s, struct code_file *f, struct inspected *more)
{
	if (!more->library)
		return;
	json_array_extend(f->lib->offsets, more->offsets);
	code_file_add_sites(f, more->sites);
	service_links_send(s, &more->links);
	service_send(s,
		     json_pack("{s:{s:i,s:I,s:I,s:I,s:O,s:O?,s:O}}", "added", "lib_id", f->lib->id,
			       "dev", (json_int_t)f->id.dev, "ino", (json_int_t)f->id.ino, "stamp",
			       (json_int_t)f->id.stamp, "offsets", more->offsets, "sites",
			       more->sites, "probes", more->library));
}

/*
 * Inspects more places of a file (as in inspect_more). If all processes share one set of probes, it
 * gets the new ones at once.
 */
static void more_look(struct service *s, const char *link, int fd, struct code_file *f,
		      const json_t *places)
{
	struct inspect_options opt = *s->opt;
	struct inspected more;

	opt.each = opt.each && !f->is_wide;
	if (!inspect_more(&opt, link, fd, f->lib, places, &more))
		more_report(s, f, &more);
	inspected_release(&more);
}

/* Probes the places that lie in a mapped traced library. Returns how many lie there. */
static size_t places_serve(struct service *s, json_int_t pid, const struct proc_map *map,
			   const json_t *places)
{
	char link[MAP_LINK_BYTES];
	struct code_id id = {};
	struct code_file *f;
	int fd;

	fd = service_map_look(s, pid, map->start, map->end, link, &id);
	if (fd < 0)
		return 0;
	f = code_files_find(s->files, &id);
	if (!f || !f->lib) {
		close(fd);
		return 0;
	}
	more_look(s, link, fd, f, places);
	close(fd);
	return json_array_size(places);
}

/*
 * Probes places [[row, address]] of a process in any of its libraries. Returns how many lie in no
 * traced library.
 */
static size_t places_find(struct service *s, json_int_t pid, const struct proc_maps *maps,
			  const json_t *places)
{
	size_t left = json_array_size(places);
	json_t *in;

	for (size_t i = 0; i < maps->cnt; i++) {
		in = places_in(&maps->map[i], places);
		if (json_array_size(in))
			left -= places_serve(s, pid, &maps->map[i], in);
		json_decref(in);
	}
	return left;
}

void service_functions(struct service *s, const json_t *request)
{
	const json_t *places = json_object_get(request, "places");
	json_int_t pid = json_get_int(request, "pid");
	size_t left = json_array_size(places);
	struct proc_maps maps;

	if (!proc_maps_read((pid_t)pid, &maps)) {
		left = places_find(s, pid, &maps, places);
		proc_maps_release(&maps);
	}
	service_send(s, json_pack("{s:b,s:I}", "done", 1, "elsewhere", (json_int_t)left));
}

/* ---- functions that a process received before the recording ---- */

static bool has_library(const struct service *s, const char *layer)
{
	for (size_t i = 0; i < s->files->lib_cnt; i++)
		if (library_has_layer(s->files->lib[i], layer))
			return true;
	return false;
}

/* Lists where a process has the code of a layer's libraries. */
static struct handed_ops_text *layer_text(struct service *s, json_int_t pid,
					  const struct proc_maps *maps, const char *layer,
					  size_t *cnt)
{
	struct handed_ops_text *text = xcalloc(maps->cnt + 1, sizeof(*text));
	char link[MAP_LINK_BYTES];

	*cnt = 0;
	for (size_t i = 0; i < maps->cnt; i++) {
		const struct proc_map *m = &maps->map[i];
		struct code_id id = {};
		struct code_file *f;
		int fd = service_map_look(s, pid, m->start, m->end, link, &id);

		if (fd < 0)
			continue;
		close(fd);
		f = code_files_find(s->files, &id);
		if (f && f->lib && library_has_layer(f->lib, layer))
			text[(*cnt)++] = (struct handed_ops_text){m->start, m->end};
	}
	return text;
}

/* Converts names to rows, for wanted functions only. */
static json_t *rows_of(const struct service *s, const json_t *named)
{
	json_t *places = json_array(), *place;
	size_t i;
	int row;

	json_array_foreach((json_t *)named, i, place)
	{
		row = func_table_find(json_string_value(json_array_get(place, 0)));
		if (row >= 0 && s->opt->wanted[row])
			json_array_append_new(places,
					      json_pack("[i,O]", row, json_array_get(place, 1)));
	}
	return places;
}

static uint64_t kind_handed_ops_serve(struct service *s, json_int_t pid,
				      const struct proc_maps *maps, const struct library_kind *kind)
{
	json_t *named = json_array(), *places;
	uint64_t left_bytes = 0;
	struct handed_ops_text *text;
	size_t cnt;
	int err;

	text = layer_text(s, pid, maps, kind->layer, &cnt);
	err = cnt ? handed_ops_find((pid_t)pid, kind, text, cnt, named, &left_bytes) : 0;
	if (err)
		log_debug("memory of process %lld: %s", (long long)pid, strerror(-err));
	places = rows_of(s, named);
	places_find(s, pid, maps, places);
	json_decref(places);
	json_decref(named);
	free(text);
	return left_bytes;
}

void service_handed_ops(struct service *s, const json_t *request)
{
	json_int_t pid = json_get_int(request, "pid");
	uint64_t left_bytes = 0;
	struct proc_maps maps;

	if (!proc_maps_read((pid_t)pid, &maps)) {
		for (size_t i = 0; library_kinds[i]; i++)
			if (library_kinds[i]->handed_ops && has_library(s, library_kinds[i]->layer))
				left_bytes += kind_handed_ops_serve(s, pid, &maps,
								    library_kinds[i]);
		proc_maps_release(&maps);
	}
	service_send(s, json_pack("{s:b,s:I}", "done", 1, "left_bytes", (json_int_t)left_bytes));
}
