/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the tables that a file's code passes to a function of another library: in this way plug-ins
 * publish functions without symbols.
 */
#ifndef POV_TARGET_ELF_PASSED_TABLE_H
#define POV_TARGET_ELF_PASSED_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

#define PASSED_MAX 16

struct passed {
	uint64_t address[PASSED_MAX]; /* addresses in the file, ascending */
	size_t address_cnt;
	/* Offsets from a pointer that was loaded from memory and may have any value. */
	uint64_t offset[PASSED_MAX];
	size_t offset_cnt;
};

/*
 * Finds what calls of an imported function may pass as the first (0) or second (1) argument. If the
 * code chooses between several values, all are found; pointers in the file's own data are followed.
 * Not found: values from the caller's own caller, and values that go through the stack. Finds
 * nothing on machines other than x86-64.
 */
void passed_find(const struct elf_file *f, const char *function, unsigned int arg,
		 struct passed *out);

#endif
