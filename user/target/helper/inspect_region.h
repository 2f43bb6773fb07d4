/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Functions of a program or library that are regions: phases of the program that it need not mark
 * itself. They are found by their symbols, even if these are only in .symtab (static functions).
 */
#ifndef POV_TARGET_HELPER_INSPECT_REGION_H
#define POV_TARGET_HELPER_INSPECT_REGION_H

#include <stdbool.h>

#include "target/helper/inspect.h"

struct elf_file;

/*
 * Returns true if a symbol is the function of that name, or a whole copy of it made by the compiler
 * (NAME.constprop.0, .isra, .lto_priv). A part of it is not: code may jump to it, and it has no
 * return address.
 */
bool region_is(const char *symbol, const char *name);

/* Attaches to all of opt->region that the file has. Fills out->regions, and adds to out->links. */
void inspect_regions(const struct inspect_options *opt, const char *path,
		     const struct elf_file *elf, struct inspected *out);

#endif
