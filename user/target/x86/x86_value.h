/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Learns the layout of an object from a small function that reads it, such as PMPI_Comm_rank(comm, *rank):
 * follows the registers that hold its arguments and what is loaded through them. x86-64.
 */
#ifndef POV_TARGET_X86_X86_VALUE_H
#define POV_TARGET_X86_X86_VALUE_H
#if defined(__x86_64__)

#include <stdint.h>

struct elf_file;
struct elf_symbol;

#define X86_LOADS_MAX 2

struct x86_loads { /* loads == 2: *(*(first argument + off[0]) + off[1]) */
	uint8_t loads;
	uint8_t bytes; /* of the last */
	int32_t off[X86_LOADS_MAX];
};

enum x86_value_want {
	/* What the function stores where its second argument points. */
	X86_STORED,
	/*
	 * What the function hands as an argument to the first call to which it hands any 4-byte member of the
	 * object its first argument points to.
	 */
	X86_PASSED,
};

/*
 * 0, -ENOENT if it is nothing loaded through the first argument, -ENOTUNIQ if there are different loads.
 */
int x86_value_find(const struct elf_file *f, const struct elf_symbol *sym, enum x86_value_want want,
		   struct x86_loads *out);

#endif
#endif
