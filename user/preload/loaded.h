/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The files that the dynamic loader has mapped, from its interface for debuggers (struct r_debug),
 * and symbols in them.
 */
#ifndef POV_PRELOAD_LOADED_H
#define POV_PRELOAD_LOADED_H

#include <link.h>

#include "preload/in_process.h"

/* Finds the loader's list through the program's headers (AT_PHDR). False: there is none. */
bool loaded_find(const ElfW(Phdr) * phdr, u64 cnt);
/* Returns the function that the loader calls when the list changes, or NULL. */
void *loaded_told(void);
/* Returns true if the list is complete: nothing is being added or removed. */
bool loaded_is_consistent(void);

/* Calls fn for each file of each namespace, until it returns false. */
void loaded_each(bool (*fn)(void *ctx, const struct link_map *map), void *ctx);

/*
 * Returns the address of a function or object that a file defines in its dynamic symbols; NULL if
 * it does not.
 */
void *loaded_symbol(const struct link_map *map, const char *name);
/* Does the same for the kernel's vDSO, given its address (AT_SYSINFO_EHDR). */
void *loaded_vdso_symbol(u64 image, const char *name);

#endif
