/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How a function can be entered by way of a jump that takes the place of its first instructions, and what does in another place what
 * these did: for the library that is preloaded (user/preload/hook.c). x86-64.
 */
#ifndef POV_TARGET_ELF_HOOK_SITE_H
#define POV_TARGET_ELF_HOOK_SITE_H

#include <stddef.h>

#include "abi/preload.h"

struct elf_file;
struct elf_symbol;

/*
 * Fills in where out's jump goes and what it displaces; row, nargs and POV_HOOK_ANY_ARGS are left alone. 0, or -ENOTSUP: a phrase
 * in why[bytes] says why it cannot be (code that jumps behind the start, a call among the first instructions, …).
 */
int hook_site_make(const struct elf_file *f, const struct elf_symbol *sym, struct pov_hook *out,
		   char *why, size_t bytes);

#endif
