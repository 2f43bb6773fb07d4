/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How the libraries of a layer (layers/layer.h) are recognised, and where their functions are probed. One file a layer,
 * library_<layer>.c, ending in one const struct library_kind; the registry is generated from the file names. A file may be
 * a library of several layers: a program that all of it is linked into.
 */
#ifndef POV_TARGET_HELPER_LIBRARY_KIND_H
#define POV_TARGET_HELPER_LIBRARY_KIND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/config.h"

struct elf_file;
struct elf_symbol;
struct layer;

struct library_facts {
	struct pov_lib layout; /* for the kernel half */
	/*
	 * Members of the trace's meta object "library", at least flavour: a short name for which one it is; version: "" if that is
	 * not known; unsure: what of it failed its self-check, "" if nothing; met: true if functions of it are met at run time. Owned.
	 */
	json_t *meta;
	json_t *copies; /* objects that a program may hold instead: [[name, symbol]], or NULL; owned */
};

/* A function of the layer that no symbol names. */
struct inner_function {
	const char *name; /* in the layer's table */
	uint64_t addr;	  /* in the file's terms */
};

/* A function of the library that is given others: as members of what its first or second argument points to. */
struct handover {
	const char *function;
	unsigned int arg; /* 0 or 1 */
	size_t cnt;
	struct {
		const char *name; /* in the layer's table */
		uint16_t offset;
	} member[POV_HANDED_MAX];
};

#define HELD_ALWAYS 3
struct held_memory;

/* An object in a process's memory that has functions of a library as members. */
struct held_object {
	const struct handover *functions; /* of it only the members; NULL ends a list */
	/* Offsets of pointers that lead into one library in each such object; 0: no more. */
	uint16_t always[HELD_ALWAYS];
	uint16_t bytes; /* how much of it is looked at, at most a page */
	/* Whether it is one, which these pointers alone do not say (target/held.h). */
	bool (*is_one)(const struct held_memory *m, const uint8_t *object);
};

/* A static probe (USDT) of the library that is recorded where a function of it is not. */
struct note_row {
	const char *provider, *name;
	const char *row;      /* in the layer's table … */
	const char *function; /* … where this one is, too */
};

#define INNER_FUNCTIONS_MAX 1024
#define HANDOVERS_MAX 8 /* of one library */
#define FUNCTION_ELSEWHERE \
	3 /* what find returns for a function that another library of the layer has */

struct library_kind {
	const char *layer; /* its name */
	/* Whether the file holds such a library, by what it defines, never by its name. Then *out is filled. */
	bool (*describe)(const struct elf_file *f, struct library_facts *out);
	/*
	 * The functions to probe for one of the layer's table; how many of syms[] are set, all with a file offset. 0: the file
	 * lacks it, unless it is an inner one.
	 */
	unsigned int (*find)(const struct elf_file *f, const char *name,
			     const struct elf_symbol *syms[2]);
	/* Those that no symbol names, as far as the file tells; how many were written. May be NULL. */
	size_t (*inner)(const struct elf_file *f, struct inner_function out[INNER_FUNCTIONS_MAX]);
	/* Where more of them will be met at run time; how many were written. May be NULL. */
	size_t (*handovers)(const struct elf_file *f, struct handover out[HANDOVERS_MAX]);
	/* Where a process that ran before has those that were met then. May be NULL. */
	const struct held_object *held;
	const struct note_row *notes; /* ends with NULLs. May be NULL. */
};

extern const struct library_kind *const library_kinds[]; /* generated; ends with NULL */
const struct library_kind *library_kind_of(const struct layer *layer); /* NULL if it has none */

#endif
