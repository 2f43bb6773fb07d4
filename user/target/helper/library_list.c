/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Asks each library_kind about each shared object in the directories where systems keep them. */
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/func_table.h"
#include "lib/json_get.h"
#include "lib/table.h"
#include "target/elf/function_callers.h"
#include "target/elf/elf_file.h"
#include "target/elf/sdt_notes.h"
#include "target/helper/library_kind.h"

#define DEPTH_MAX 4 /* depth below these directories */
#define CALLERS_MAX 16

static bool has_inner(const struct inner_function *inner, size_t cnt, const char *name)
{
	return table_any(cnt, i, !strcmp(inner[i].name, name));
}

static const char *inner_at(const struct inner_function *inner, size_t cnt, uint64_t addr)
{
	for (size_t i = 0; i < cnt; i++)
		if (inner[i].addr == addr)
			return inner[i].name;
	return NULL;
}

/*
 * Returns the inner function that contains a place in the code, or that calls the function which
 * contains it.
 */
static const char *inner_around(const struct elf_file *f, const struct inner_function *inner,
				size_t cnt, uint64_t place)
{
	uint64_t start, bytes, addr, callers[CALLERS_MAX];
	struct elf_symbol function = {0};
	const char *name;
	size_t n;

	if (!elf_file_function_around(f, place, &start, &bytes))
		return NULL;
	name = inner_at(inner, cnt, start);
	function.addr = start;
	n = name ? 0 : function_callers_find(f, &function, callers, CALLERS_MAX);
	for (size_t i = 0; i < n && !name; i++)
		if (!elf_file_offset_to_addr(f, callers[i], &addr) &&
		    elf_file_function_around(f, addr, &start, &bytes))
			name = inner_at(inner, cnt, start);
	return name;
}

/*
 * Lists static probes (USDT), each with its number of places and the functions that contain them.
 */
static json_t *notes_json(const struct elf_file *f, const struct inner_function *inner, size_t cnt)
{
	json_t *all = json_object(), *one;
	char probe[2 * SDT_NAME_BYTES];
	struct sdt_note *notes;
	size_t n = sdt_notes_read(f, &notes);
	const char *name;

	for (size_t i = 0; i < n; i++) {
		snprintf(probe, sizeof(probe), "%s:%s", notes[i].provider, notes[i].name);
		one = json_object_get(all, probe);
		if (!one) {
			one = json_pack("{s:i,s:[]}", "places", 0, "in");
			json_object_set_new(all, probe, one);
		}
		json_set_int(one, "places", json_get_int(one, "places") + 1);
		name = inner_around(f, inner, cnt, notes[i].addr);
		if (name && !json_has_text(json_object_get(one, "in"), name))
			json_array_append_new(json_object_get(one, "in"), json_string(name));
	}
	free(notes);
	return all;
}

/* Adds which functions of a layer, and which of its static probes, a library has. */
static void functions_add(const struct elf_file *f, const struct library_kind *kind,
			  const struct layer *layer, json_t *out)
{
	struct inner_function inner[INNER_FUNCTIONS_MAX];
	size_t inner_cnt = kind->inner ? kind->inner(f, inner) : 0, cnt = inner_cnt;
	json_t *missing = json_array();
	const struct elf_symbol *sym[2];
	unsigned int n;

	for (size_t i = 0; i < layer->row_cnt; i++) {
		n = kind->find(f, layer->rows[i].name, sym);
		if (n == FUNCTION_ELSEWHERE)
			continue;
		cnt += n;
		if (!n && !has_inner(inner, inner_cnt, layer->rows[i].name))
			json_array_append_new(missing, json_string(layer->rows[i].name));
	}
	json_set_int(out, "functions", cnt);
	json_object_set_new(out, "missing", missing);
	if (kind->notes)
		json_object_set_new(out, "usdt", notes_json(f, inner, inner_cnt));
}

static void file_add(const char *path, json_t *list)
{
	const struct library_kind *kind;
	struct library_facts facts;
	struct elf_file *f;
	json_t *row;

	if (elf_file_open(path, &f))
		return;
	for (size_t i = 0; layers[i]; i++) {
		kind = library_kind_of(layers[i]);
		if (!kind || !kind->describe(f, &facts))
			continue;
		row = json_pack("{s:s,s:s,s:s,s:s,s:b}", "layer", layers[i]->name, "path", path,
				"flavour", json_get_text(facts.meta, "flavour"), "version",
				json_get_text(facts.meta, "version"), "met",
				json_get_bool(facts.meta, "met"));
		functions_add(f, kind, layers[i], row);
		json_array_append_new(list, row);
		json_decref(facts.meta);
		json_decref(facts.copies);
	}
	elf_file_close(f);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

json_t *library_list(void)
{
	char *dirs[] = {"/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64", NULL};
	json_t *list = json_array();
	FTS *walk = fts_open(dirs, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, by_name);
	FTSENT *e;

	while (walk && (e = fts_read(walk))) {
		if (e->fts_info == FTS_D && e->fts_level > DEPTH_MAX)
			fts_set(walk, e, FTS_SKIP);
		else if (e->fts_info == FTS_F && strstr(e->fts_name, ".so"))
			file_add(e->fts_path, list);
	}
	if (walk)
		fts_close(walk);
	return list;
}

/* ---- kinds of libraries: each has its layer's name ---- */

const struct library_kind *library_kind_of(const struct layer *layer)
{
	for (size_t i = 0; library_kinds[i]; i++)
		if (!strcmp(library_kinds[i]->layer, layer->name))
			return library_kinds[i];
	return NULL;
}

bool library_kind_hands_over(const bool *wanted)
{
	const struct library_kind *kind;

	for (size_t i = 0; i < func_table_count(); i++) {
		kind = wanted[i] ? library_kind_of(func_table_layer(i)) : NULL;
		if (kind && kind->handovers)
			return true;
	}
	return false;
}
