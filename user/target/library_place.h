/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Where traced libraries lie in a process that runs, by what it has mapped now. */
#ifndef POV_TARGET_LIBRARY_PLACE_H
#define POV_TARGET_LIBRARY_PLACE_H

#include <stdint.h>
#include <sys/types.h>

struct code_file;
struct code_files;
struct proc_map;

/* For each place of their code; bias: address there − address in the file. The mapping is one of those that it is in. */
void library_place_each(const struct code_files *files, pid_t pid,
			void (*fn)(void *ctx, pid_t pid, const struct proc_map *map,
				   struct code_file *file, uint64_t bias),
			void *ctx);

#endif
