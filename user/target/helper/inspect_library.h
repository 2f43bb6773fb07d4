/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The functions of traced layers in a library: those that its symbols name, when it is first seen, and those that are learned of at
 * run time, because programs have them as pointers only.
 */
#ifndef POV_TARGET_HELPER_INSPECT_LIBRARY_H
#define POV_TARGET_HELPER_INSPECT_LIBRARY_H

#include <jansson.h>
#include <stdint.h>

#include "target/helper/inspect.h"

struct elf_file;
struct library;

/*
 * Chooses sites and attaches; fills, if it is a library of a wanted layer, out->library, offsets and copies. 0 also if there
 * is nothing to trace, or -errno.
 */
int inspect_library(const struct inspect_options *opt, const char *path, const struct elf_file *elf,
		    uint16_t lib_id, struct inspected *out);

/*
 * Probes more functions of a library that is known. places: [[row of the function table, file offset where it begins]].
 * What lib->offsets has already is left out without a word, and so is what is not wanted or not of the library's layers. A place
 * where the file itself knows of no function (elf_file_function_at) is refused. Fills out->links, library: its meta object "probes"
 * without ts_ns and library, and offsets: of these alone; NULL where there was nothing to do. 0 or -errno: the file cannot be read.
 */
int inspect_more(const struct inspect_options *opt, const char *path, int fd,
		 const struct library *lib, const json_t *places, struct inspected *out);

#endif
