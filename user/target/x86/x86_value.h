/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the layout of an object from a small function that reads it, such as PMPI_Comm_rank(comm,
 * *rank): follows the registers with its arguments and with values loaded through them. x86-64
 * only.
 */
#ifndef POV_TARGET_X86_X86_VALUE_H
#define POV_TARGET_X86_X86_VALUE_H

#include <stdint.h>

struct elf_file;
struct elf_symbol;

#define X86_LOADS_MAX 2

struct x86_loads { /* loads == 2: *(*(first argument + off[0]) + off[1]) */
	uint8_t loads;
	uint8_t bytes; /* size of the last load */
	int32_t off[X86_LOADS_MAX];
};

enum x86_value_want {
	/* The value that the function stores where its second argument points. */
	X86_STORED,
	/*
	 * The argument of the first call to which the function passes any 4-byte member of the
	 * object that its first argument points to.
	 */
	X86_PASSED,
};

/*
 * 0; -ENOENT if the value is not loaded through the first argument; -ENOTUNIQ if there are
 * different loads.
 */
int x86_value_find(const struct elf_file *f, const struct elf_symbol *sym, enum x86_value_want want,
		   struct x86_loads *out);

#endif
