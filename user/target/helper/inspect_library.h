/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Functions of traced layers in a library: those that its symbols name, when it is first inspected,
 * and those found at run time, which programs have only as pointers.
 */
#ifndef POV_TARGET_HELPER_INSPECT_LIBRARY_H
#define POV_TARGET_HELPER_INSPECT_LIBRARY_H

#include <jansson.h>
#include <stdint.h>

#include "target/helper/inspect.h"

struct elf_file;
struct library;

/*
 * Chooses sites and attaches probes. For a library of a wanted layer, fills out->library, offsets
 * and copies. 0, also if there is nothing to trace, or -errno.
 */
int inspect_library(const struct inspect_options *opt, const char *path, const struct elf_file *elf,
		    uint16_t lib_id, struct inspected *out);

/*
 * Probes more functions of a known library. places is [[row of the function table, file offset of
 * its begin]]. Silently skips places in lib->offsets, unwanted functions, and functions of other
 * layers. Refuses a place where the file has no function (elf_file_function_at). Fills out->links;
 * out->library with the members of meta object "probes" except ts_ns and library; and out->offsets
 * with only the new places. Both are NULL if there was nothing to do. 0, or -errno: the file cannot
 * be read.
 */
int inspect_more(const struct inspect_options *opt, const char *path, int fd,
		 const struct library *lib, const json_t *places, struct inspected *out);

#endif
