/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "target/library_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "target/code_file.h"
#include "target/proc.h"

static struct code_file *file_of(const struct code_files *files, pid_t pid,
				 const struct proc_map *map)
{
	struct code_id id;
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, map->start,
		 map->end);
	if (stat(path, &st))
		return NULL;
	id = code_id_of(&st);
	return code_files_find(files, &id);
}

void library_place_each(const struct code_files *files, pid_t pid,
			void (*fn)(void *ctx, pid_t pid, const struct proc_map *map,
				   struct code_file *file, uint64_t bias),
			void *ctx)
{
	uint64_t bias, last_bias = 0;
	struct code_file *file, *last = NULL;
	struct proc_maps maps;

	if (proc_maps_read(pid, &maps))
		return;
	for (size_t i = 0; i < maps.cnt; i++) {
		file = file_of(files, pid, &maps.map[i]);
		if (!file || !file->lib ||
		    code_file_bias(file, maps.map[i].start, maps.map[i].off, &bias) ||
		    (file == last && bias == last_bias))
			continue;
		fn(ctx, pid, &maps.map[i], file, bias);
		last = file;
		last_bias = bias;
	}
	proc_maps_release(&maps);
}
