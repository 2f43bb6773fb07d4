/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Attaches to static probes (USDT) of a library (target/elf/sdt_notes.h) that a layer's table uses
 * in place of a function which is not recorded itself. They are at nops, which the kernel need not
 * single-step, and they have no return.
 */
#ifndef POV_TARGET_HELPER_INSPECT_NOTE_H
#define POV_TARGET_HELPER_INSPECT_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/helper/inspect.h"

struct elf_file;
struct library_kind;

/* Returns true if any wanted row is a static probe. */
bool inspect_notes_wanted(const bool *wanted);

/*
 * Attaches to a library's static probes and returns their number. is_seen tells whether a function
 * of the layer's table has its own probes. The locations of arguments go into opt's map of notes,
 * the names of rows into `names`.
 */
size_t inspect_notes(const struct inspect_options *opt, const char *path,
		     const struct elf_file *elf, const struct library_kind *kind, uint16_t lib_id,
		     bool (*is_seen)(const void *ctx, const char *function), const void *ctx,
		     struct inspected *out, json_t *names);

#endif
