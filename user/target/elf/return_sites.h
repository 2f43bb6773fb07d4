/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where a function is left: its return instructions, and the jumps by which it ends in another function. Probes there see each return without
 * a return probe, which puts an address of the kernel's into the stack: exceptions, longjmp, cancelled threads and Go stumble over that.
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
	uint64_t offset;   /* in the file */
	bool is_tail;	   /* a jump to another function, which returns in place of this one */
	uint64_t to;	   /* the address of that function; 0: it is in another file, or unknown */
	uint8_t condition; /* of that jump, as x86 numbers them; POV_CONDITION_NONE: none */
};

struct return_sites {
	struct return_site *v; /* in no order; owned */
	size_t cnt;
	const char *why; /* constant text: why they are not known */
};

/*
 * At each site the stack pointer is what it was when the function began. 0 (there may be none: it never returns), or -ENOTSUP if its body
 * cannot be decoded whole: out->why. Method: kmod-docs/PROBES.md. Machines other than x86-64: always -ENOTSUP.
 */
int return_sites_find(const struct elf_file *f, const struct elf_symbol *sym,
		      struct return_sites *out);
/*
 * The returns alone, also those of the functions of the file that it ends by a jump to, and of those that these do: each return of the function
 * is at one of them, with the stack pointer that the function began with. -ENOTSUP also if it may end in another file's function.
 */
int return_sites_follow(const struct elf_file *f, const struct elf_symbol *sym,
			struct return_sites *out);
void return_sites_release(struct return_sites *sites);

#endif
