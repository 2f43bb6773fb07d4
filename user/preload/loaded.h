/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The files that the dynamic loader has mapped, by what it tells debuggers (struct r_debug), and symbols in them. */
#ifndef POV_PRELOAD_LOADED_H
#define POV_PRELOAD_LOADED_H

#include <link.h>

#include "preload/in_process.h"

/* Finds the loader's list by the program's headers (AT_PHDR). False: it has none. */
bool loaded_find(const ElfW(Phdr) * phdr, u64 cnt);
/* The function that the loader calls when the list changes, or NULL. */
void *loaded_told(void);
/* The list is as it stands: nothing is being added or taken away. */
bool loaded_is_consistent(void);

/* Calls fn for each file of each namespace, until it returns false. */
void loaded_each(bool (*fn)(void *ctx, const struct link_map *map), void *ctx);

/* Address of a function or an object that a file defines, by its dynamic symbols; NULL if it does not. */
void *loaded_symbol(const struct link_map *map, const char *name);
/* The same in the kernel's own file in each process, of which only the address is known (AT_SYSINFO_EHDR). */
void *loaded_vdso_symbol(u64 image, const char *name);

#endif
