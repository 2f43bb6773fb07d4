/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Puts probes on static probes (USDT) of a library (target/elf/sdt_notes.h): for those of a layer's table that stand in for a function that
 * is not seen itself. Their places are nops, which the kernel need not step through, and nothing is to be caught on return.
 */
#ifndef POV_TARGET_HELPER_INSPECT_NOTE_H
#define POV_TARGET_HELPER_INSPECT_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/helper/inspect.h"

struct elf_file;
struct library_kind;

/* Whether any of the rows that are wanted is a static probe. */
bool inspect_notes_wanted(const bool *wanted);

/*
 * is_seen: whether calls of a function of the layer's table are recorded by probes of its own. How many were attached; where
 * their arguments are goes into opt's map of notes, and the names of their rows into the list `names`.
 */
size_t inspect_notes(const struct inspect_options *opt, const char *path,
		     const struct elf_file *elf, const struct library_kind *kind, uint16_t lib_id,
		     bool (*is_seen)(const void *ctx, const char *function), const void *ctx,
		     struct inspected *out, json_t *names);

#endif
