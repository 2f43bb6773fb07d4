/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the tables that a file's code hands to a function of another library: plug-ins tell their functions in that way, and
 * no symbol names them.
 */
#ifndef POV_ELF_PASSED_TABLE_H
#define POV_ELF_PASSED_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

/*
 * Addresses, ascending, that calls of an imported function may pass as its second argument. Where the code chooses between several, all. How
 * many were written, at most max; 0 also on machines other than x86-64. Not found: what lies in writable memory that is filled at run
 * time, what the caller's own caller passes, and what goes through memory.
 */
size_t passed_tables_find(const struct elf_file *f, const char *function, uint64_t *tables,
			  size_t max);

#endif
