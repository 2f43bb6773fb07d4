/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds where a function is left: its return instructions, and the jumps by which it ends in
 * another function. Probes there see each return without a return probe. A return probe puts a
 * kernel address into the stack, which breaks exceptions, longjmp, cancelled threads and Go.
 */
#ifndef POV_TARGET_ELF_RETURN_SITES_H
#define POV_TARGET_ELF_RETURN_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/config.h"

struct elf_file;
struct elf_symbol;

struct return_site {
	uint64_t offset;   /* file offset */
	bool is_tail;	   /* a jump to another function, which returns in place of this one */
	uint64_t to;	   /* the address of that function; 0: it is in another file, or unknown */
	uint8_t condition; /* condition of the jump, numbered as in x86; POV_CONDITION_NONE: none */
};

struct return_sites {
	struct return_site *v; /* in no order; owned */
	size_t cnt;
	const char *why; /* constant text: why they are unknown */
};

/*
 * Finds all sites. At each, the stack pointer is the same as at the function's begin. 0 (there may
 * be none: it never returns), or -ENOTSUP if its body cannot be decoded completely: out->why.
 * Method: kmod-docs/PROBES_RETURNS.md. On machines other than x86-64: always -ENOTSUP.
 */
int return_sites_find(const struct elf_file *f, const struct elf_symbol *sym,
		      struct return_sites *out);
/*
 * Finds only returns, including those of the file's functions in which it ends by a jump, and so
 * on. Each return of the function is at one of them, with the stack pointer of the function's
 * begin. -ENOTSUP also if it may end in another file's function.
 */
int return_sites_follow(const struct elf_file *f, const struct elf_symbol *sym,
			struct return_sites *out);
void return_sites_release(struct return_sites *sites);

#endif
