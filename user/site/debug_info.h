/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What an offset in an ELF file is called in its source: by its debug information (DWARF, in it or in a file of its own, found
 * by build ID or debug link where the system keeps these), else by its symbol table. By libdw, which damaged files have
 * brought down before: only povtrace-lines uses it, a process of its own.
 */
#ifndef POV_SITE_DEBUG_INFO_H
#define POV_SITE_DEBUG_INFO_H

#include <stdbool.h>
#include <stdint.h>

struct debug_info;

struct debug_place {
	/* Of functions that were inlined there, the innermost that does not belong to MPI's C++ bindings, or Boost's. */
	const char *function;
	uint64_t function_offset; /* from its begin on, if file is NULL */
	const char *file;	  /* as the debug information has it; NULL: it has none */
	uint32_t line;
};

/*
 * Takes over fd, a regular file. build_id: in hex; "" if it need not be compared. 0; -ESTALE: it has another one; -ENOEXEC: it
 * is no ELF file that can be read; -ENOMEM. Says nothing.
 */
int debug_info_open(int fd, const char *path, const char *build_id, struct debug_info **out);
void debug_info_close(struct debug_info *d);
/*
 * Of the call that returns to that offset in the file: of the instruction before. False: nothing is known of it. Names are
 * valid until the next one is looked for.
 */
bool debug_info_find(struct debug_info *d, uint64_t offset, struct debug_place *out);

#endif
