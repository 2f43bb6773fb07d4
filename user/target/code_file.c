/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Uses a hash table with chains, because ids have three parts and must be compared in full. */
#include "target/code_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "abi/config.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "target/probes/site_list.h"
#include "target/proc.h"

#define OWNER_LIBS_MAX 32 /* limit for each user except root */

struct named { /* one id of a file, in a chain */
	struct code_id id;
	struct code_file *file;
	struct named *next;
};

struct code_id code_id_of(const struct stat *st)
{
	return (struct code_id){
		.dev = (uint64_t)major(st->st_dev) << 20 | minor(st->st_dev),
		.ino = st->st_ino,
		.stamp = POV_FILE_STAMP(st->st_ctim.tv_sec, st->st_ctim.tv_nsec, st->st_size),
	};
}

bool code_id_equal(const struct code_id *a, const struct code_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->stamp == b->stamp;
}

static uint64_t id_hash(const struct code_id *id)
{
	return (id->dev * 0x9e3779b97f4a7c15u ^ id->ino) * 0xff51afd7ed558ccdu ^ id->stamp;
}

struct code_file *code_files_find(const struct code_files *files, const struct code_id *id)
{
	for (struct named *n = map_get(&files->by_id, id_hash(id)); n; n = n->next)
		if (code_id_equal(&n->id, id))
			return n->file;
	return NULL;
}

void code_files_add(struct code_files *files, const struct code_id *id, struct code_file *file)
{
	struct named *n;

	if (code_files_find(files, id))
		return;
	n = xcalloc(1, sizeof(*n));
	n->id = *id;
	n->file = file;
	n->next = map_get(&files->by_id, id_hash(id));
	map_set(&files->by_id, id_hash(id), n);
	map_set(&files->owned, (uintptr_t)file, file);
}

void code_files_add_library(struct code_files *files, struct library *lib)
{
	*table_append(files->lib, files->lib_cnt) = lib;
}

bool code_files_have_room(const struct code_files *files, uid_t owner)
{
	size_t of_owner = 0;

	for (size_t i = 0; i < files->lib_cnt; i++)
		of_owner += files->lib[i]->owner == owner;
	return files->lib_cnt < POV_LIBS_MAX && (!owner || of_owner < OWNER_LIBS_MAX);
}

bool library_has_layer(const struct library *lib, const char *name)
{
	return json_has_text(json_object_get(lib->meta, "layers"), name);
}

static void library_free(struct library *lib)
{
	links_release(&lib->links);
	json_decref(lib->offsets);
	json_decref(lib->meta);
	json_decref(lib->copies);
	free(lib->hooks);
	free(lib);
}

static void file_free(void *p)
{
	struct code_file *file = p;

	json_decref(file->segments);
	json_decref(file->binding);
	free(file->interpreter);
	json_decref(file->sites);
	free(file->path);
	free(file->build_id);
	free(file);
}

/* Frees a chain. */
static void named_free(void *p)
{
	struct named *next;

	for (struct named *n = p; n; n = next) {
		next = n->next;
		free(n);
	}
}

void code_files_release(struct code_files *files)
{
	map_free(&files->by_id, named_free);
	map_free(&files->owned, file_free);
	for (size_t i = 0; i < files->lib_cnt; i++)
		library_free(files->lib[i]);
	free(files->lib);
	memset(files, 0, sizeof(*files));
}

void code_file_add_sites(struct code_file *file, const json_t *sites)
{
	if (sites && !file->sites)
		file->sites = json_array();
	if (sites)
		json_array_extend(file->sites, (json_t *)sites);
	site_list_count(sites, &file->own_sites, &file->left_sites);
}

int code_file_bias(const struct code_file *file, uint64_t start, uint64_t off, uint64_t *bias)
{
	json_t *row;
	size_t i;

	json_array_foreach(file->segments, i, row)
	{
		uint64_t offset = json_integer_value(json_array_get(row, 0));
		uint64_t addr = json_integer_value(json_array_get(row, 1));
		uint64_t bytes = json_integer_value(json_array_get(row, 2));

		/* A mapping begins at a page boundary, but a segment need not. */
		if (off + 0xffff < offset || off >= offset + bytes)
			continue;
		*bias = start - (addr + off - offset);
		return 0;
	}
	return -ENXIO;
}

bool code_file_offset(const struct code_file *file, uint64_t addr, uint64_t *offset)
{
	json_t *row;
	size_t i;

	json_array_foreach(file->segments, i, row)
	{
		uint64_t at = json_integer_value(json_array_get(row, 1));
		uint64_t bytes = json_integer_value(json_array_get(row, 2));

		if (addr < at || addr - at >= bytes)
			continue;
		*offset = addr - at + json_integer_value(json_array_get(row, 0));
		return true;
	}
	return false;
}

static struct code_file *file_of(const struct code_files *files, pid_t pid,
				 const struct proc_map *map)
{
	struct code_id id;
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, proc_memory_of(pid),
		 map->start, map->end);
	if (stat(path, &st))
		return NULL;
	id = code_id_of(&st);
	return code_files_find(files, &id);
}

void library_places_each(const struct code_files *files, pid_t pid, library_place_fn *fn, void *ctx)
{
	struct library_place at, last = {0};
	struct proc_maps maps;

	if (proc_maps_read(pid, &maps))
		return;
	for (size_t i = 0; i < maps.cnt; i++) {
		at = (struct library_place){pid, &maps.map[i], file_of(files, pid, &maps.map[i]),
					    0};
		if (!at.file || !at.file->lib ||
		    code_file_bias(at.file, at.map->start, at.map->off, &at.bias) ||
		    (at.file == last.file && at.bias == last.bias))
			continue;
		fn(ctx, &at);
		last = at;
	}
	proc_maps_release(&maps);
}
