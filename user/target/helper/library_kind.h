/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How libraries of a layer (layers/layer.h) are recognised, and where their functions are probed.
 * Each layer has one file, library_<layer>.c, which ends in a const struct library_kind; the
 * registry is generated from the file names. A file may be a library of several layers: a program
 * that has them all linked in.
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
	 * Members of the meta object "library"; owned. At least flavour (short name of the
	 * implementation), version ("" if unknown), unsure (what failed the self-check, or ""), and
	 * met (true if functions are found at run time).
	 */
	json_t *meta;
	/* objects of which a program may hold copies: [[name, symbol]], or NULL; owned */
	json_t *copies;
};

/* A function of the layer without a symbol. */
struct inner_function {
	const char *name; /* in the layer's table */
	uint64_t addr;	  /* address in the file */
};

/*
 * A function of the library that receives other functions, as members of what its first or second
 * argument points to.
 */
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
struct handed_ops_memory;

/* An object in a process's memory that has functions of a library as members. */
struct handed_ops_object {
	const struct handover *functions; /* only its members are used; NULL ends a list */
	/* Offsets at which each such object has pointers into the library's code; 0: no more. */
	uint16_t always[HELD_ALWAYS];
	uint16_t bytes; /* bytes of it that are examined, at most a page */
	/*
	 * Returns true if memory with pointers at these offsets really is such an object
	 * (target/handed_ops.h).
	 */
	bool (*is_one)(const struct handed_ops_memory *m, const uint8_t *object);
};

/* A static probe (USDT) of the library, recorded if a function cannot be. */
struct note_row {
	const char *provider, *name;
	const char *row;      /* the probe's row in the layer's table */
	const char *function; /* the function, also in the layer's table */
};

#define INNER_FUNCTIONS_MAX 1024
#define HANDOVERS_MAX 8	     /* per library */
#define FUNCTION_ELSEWHERE 3 /* result of find for a function in another library of the layer */

struct library_kind {
	const char *layer; /* name of the layer */
	/*
	 * Returns true if the file has such a library, by what it defines and never by its name.
	 * Then fills *out.
	 */
	bool (*describe)(const struct elf_file *f, struct library_facts *out);
	/*
	 * Finds the functions to probe for a row of the layer's table. Returns how many of syms[]
	 * are set, all with a file offset. 0: the file lacks it, unless it is an inner function.
	 */
	unsigned int (*find)(const struct elf_file *f, const char *name,
			     const struct elf_symbol *syms[2]);
	/*
	 * Finds functions without symbols, as far as the file shows them, and returns their number.
	 * May be NULL.
	 */
	size_t (*inner)(const struct elf_file *f, struct inner_function out[INNER_FUNCTIONS_MAX]);
	/*
	 * Finds functions through which more functions will be found at run time, and returns their
	 * number. May be NULL.
	 */
	size_t (*handovers)(const struct elf_file *f, struct handover out[HANDOVERS_MAX]);
	/* Objects in which an already running process has such functions. May be NULL. */
	const struct handed_ops_object *handed_ops;
	const struct note_row *notes; /* ends with NULLs. May be NULL. */
};

extern const struct library_kind *const library_kinds[]; /* generated; ends with NULL */
const struct library_kind *library_kind_of(const struct layer *layer); /* NULL if it has none */
/* Returns true if libraries of any wanted row of the function table can have handovers. */
bool library_kind_hands_over(const bool *wanted);

/*
 * Lists libraries of all layers in the directories where libraries are installed, by what they
 * define, and attaches nothing: [{layer, path, flavour, version, functions, missing, met}].
 * functions is the number that can be probed; missing has the names that it should have but lacks;
 * met: more functions are found at run time. The caller releases it.
 */
json_t *library_list(void);

#endif
