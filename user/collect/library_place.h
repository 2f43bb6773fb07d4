/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Where traced libraries lie in a process that runs, by what it has mapped now. */
#ifndef POV_COLLECT_LIBRARY_PLACE_H
#define POV_COLLECT_LIBRARY_PLACE_H

#include <stdint.h>
#include <sys/types.h>

struct code_files;
struct library;
struct proc_map;

/* The one that an address lies in. 0; -ESRCH: no such process; -EAGAIN: none that is known by now. */
int library_place_find(const struct code_files *files, pid_t pid, uint64_t addr,
		       const struct library **out);
/* All of them, for each place of their code. */
void library_place_each(const struct code_files *files, pid_t pid,
			void (*fn)(void *ctx, pid_t pid, const struct proc_map *map,
				   struct library *lib),
			void *ctx);

#endif
