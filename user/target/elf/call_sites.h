/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the places in a file's code that call one of its own functions. A call is an instruction that the kernel emulates
 * under a probe, whatever the function begins with: `_dl_debug_state` of a dynamic loader is a bare ret, which would be
 * single-stepped at several times the cost, and loaders call it four times for each library.
 */
#ifndef POV_TARGET_ELF_CALL_SITES_H
#define POV_TARGET_ELF_CALL_SITES_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct elf_symbol;

/*
 * File offsets of the direct calls of (and jumps to) a function in .text, ascending; those by a pointer cannot be seen.
 * How many were written: 0 if there are none, more than max, no section .text of at most 4 MiB, a stretch of it that is no
 * code, or on machines other than x86-64.
 */
size_t call_sites_find(const struct elf_file *f, const struct elf_symbol *sym, uint64_t *offsets,
		       size_t max);

#endif
