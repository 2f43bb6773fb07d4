/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How the libraries of a layer (layer/layer.h) are recognised, and where their functions are probed. One file a layer,
 * library_<layer>.c, ending in one const struct library_kind; the registry is generated from the file names. A file may be
 * a library of several layers: a program that all of it is linked into.
 */
#ifndef POV_ATTACH_LIBRARY_KIND_H
#define POV_ATTACH_LIBRARY_KIND_H

#include <jansson.h>
#include <stdbool.h>

#include "abi/config.h"

struct elf_file;
struct elf_symbol;
struct layer;

struct library_facts {
	struct pov_lib layout; /* for the kernel half */
	/*
	 * Members of the trace's meta object "library", at least flavour: a short name for which one it is; version: "" if that is
	 * not known; unsure: what of it failed its self-check, "" if nothing. Owned.
	 */
	json_t *meta;
	json_t *copies; /* objects that a program may hold instead: [[name, symbol]], or NULL; owned */
};

struct library_kind {
	const char *layer; /* its name */
	/* Whether the file holds such a library, by what it defines, never by its name. Then *out is filled. */
	bool (*describe)(const struct elf_file *f, struct library_facts *out);
	/* The functions to probe for one of the layer's table; how many of syms[] are set, all with a file offset. */
	unsigned int (*find)(const struct elf_file *f, const char *name,
			     const struct elf_symbol *syms[2]);
};

extern const struct library_kind *const library_kinds[]; /* generated; ends with NULL */
const struct library_kind *library_kind_of(const struct layer *layer); /* NULL if it has none */

#endif
