/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds where traced libraries are in a running process, by its current mappings. */
#ifndef POV_TARGET_LIBRARY_PLACE_H
#define POV_TARGET_LIBRARY_PLACE_H

#include <stdint.h>
#include <sys/types.h>

struct code_file;
struct code_files;
struct proc_map;

/*
 * Calls fn for each mapping of their code. bias is the address in the process minus the address in
 * the file. map is one of the file's mappings.
 */
void library_place_each(const struct code_files *files, pid_t pid,
			void (*fn)(void *ctx, pid_t pid, const struct proc_map *map,
				   struct code_file *file, uint64_t bias),
			void *ctx);

#endif
