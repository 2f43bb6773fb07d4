/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Plans a jump that replaces a function's first instructions, and the code elsewhere that does what
 * these did. The preloaded library uses it (user/preload/hook.c). x86-64 only.
 */
#ifndef POV_TARGET_ELF_HOOK_SITE_H
#define POV_TARGET_ELF_HOOK_SITE_H

#include <stddef.h>

#include "abi/preload.h"

struct elf_file;
struct elf_symbol;

/*
 * Fills in where out's jump is and what it displaces; leaves row, nargs and POV_HOOK_ANY_ARGS
 * alone. 0, or -ENOTSUP: why[bytes] has the reason as a phrase (code jumps to shortly after the
 * start, a call is among the first instructions, …).
 */
int hook_site_make(const struct elf_file *f, const struct elf_symbol *sym, struct pov_hook *out,
		   char *why, size_t bytes);

#endif
