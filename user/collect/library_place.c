/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "collect/library_place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "attach/code_file.h"
#include "attach/proc.h"

static struct library *library_of(const struct code_files *files, pid_t pid,
				  const struct proc_map *map)
{
	const struct code_file *f;
	struct code_id id;
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, map->start,
		 map->end);
	if (stat(path, &st))
		return NULL;
	id = code_id_of(&st);
	f = code_files_find(files, &id);
	return f ? f->lib : NULL;
}

int library_place_find(const struct code_files *files, pid_t pid, uint64_t addr,
		       const struct library **out)
{
	struct proc_maps maps;

	*out = NULL;
	if (proc_maps_read(pid, &maps))
		return -ESRCH;
	for (size_t i = 0; i < maps.cnt; i++)
		if (addr >= maps.map[i].start && addr < maps.map[i].end)
			*out = library_of(files, pid, &maps.map[i]);
	proc_maps_release(&maps);
	return *out ? 0 : -EAGAIN;
}

void library_place_each(const struct code_files *files, pid_t pid,
			void (*fn)(void *ctx, pid_t pid, const struct proc_map *map,
				   struct library *lib),
			void *ctx)
{
	struct proc_maps maps;
	struct library *lib;

	if (proc_maps_read(pid, &maps))
		return;
	for (size_t i = 0; i < maps.cnt; i++) {
		lib = library_of(files, pid, &maps.map[i]);
		if (lib)
			fn(ctx, pid, &maps.map[i], lib);
	}
	proc_maps_release(&maps);
}
