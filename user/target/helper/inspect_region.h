/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The functions of a file, program or library, that are regions: phases of the program that it need not mark itself. They are
 * found by their symbols, also where only .symtab has them (static functions).
 */
#ifndef POV_TARGET_HELPER_INSPECT_REGION_H
#define POV_TARGET_HELPER_INSPECT_REGION_H

#include <stdbool.h>

#include "target/helper/inspect.h"

struct elf_file;

/*
 * Whether a symbol is the function of that name, or a copy of all of it that the compiler has made for itself
 * (NAME.constprop.0, .isra, .lto_priv), rather than a part of it, which may be jumped to and has no return address.
 */
bool region_is(const char *symbol, const char *name);

/* Attaches to all of opt->region that the file has; fills out->regions, and adds to out->links. */
void inspect_regions(const struct inspect_options *opt, const char *path,
		     const struct elf_file *elf, struct inspected *out);

#endif
