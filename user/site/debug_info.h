/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the source name of an offset in an ELF file: from its debug information (DWARF, in the file
 * or in a separate one found by build ID or debug link), else from its symbol table. Damaged files
 * have crashed libdw before, so only povtrace-lines, a separate process, uses this.
 */
#ifndef POV_SITE_DEBUG_INFO_H
#define POV_SITE_DEBUG_INFO_H

#include <stdbool.h>
#include <stdint.h>

struct debug_info;

struct debug_place {
	/*
	 * the innermost function at the place, inlined ones included, that does not belong to the
	 * C++ bindings of MPI or Boost
	 */
	const char *function;
	uint64_t function_offset; /* offset from the function's begin, if file is NULL */
	const char *file;	  /* as in the debug information; NULL: none */
	uint32_t line;
};

/*
 * Takes over fd, a regular file. build_id: hex; "" to skip the comparison. 0; -ESTALE: different
 * build ID; -ENOEXEC: no readable ELF file; -ENOMEM. Prints nothing.
 */
int debug_info_open(int fd, const char *path, const char *build_id, struct debug_info **out);
void debug_info_close(struct debug_info *d);
/*
 * Looks up the call that returns to this offset in the file, by the instruction before it. False:
 * nothing is known. Names are valid until the next call.
 */
bool debug_info_find(struct debug_info *d, uint64_t offset, struct debug_place *out);

#endif
