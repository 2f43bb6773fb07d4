/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the tables that a file's code hands to a function of another library: plug-ins tell their functions in that way, and
 * no symbol names them.
 */
#ifndef POV_TARGET_ELF_PASSED_TABLE_H
#define POV_TARGET_ELF_PASSED_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

#define PASSED_MAX 16

struct passed {
	uint64_t address[PASSED_MAX]; /* in the file's terms, ascending */
	size_t address_cnt;
	/* So many bytes behind a pointer that was read from memory, and may be any. */
	uint64_t behind[PASSED_MAX];
	size_t behind_cnt;
};

/*
 * What calls of an imported function may pass as its first (0) or second (1) argument. Where the code chooses between several, all;
 * pointers that are read from the file's own data are followed. Nothing on machines other than x86-64. Not found: what the
 * caller's own caller passes, and what goes through the stack.
 */
void passed_find(const struct elf_file *f, const char *function, unsigned int arg,
		 struct passed *out);

#endif
