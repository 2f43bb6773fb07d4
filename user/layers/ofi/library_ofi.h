/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the functions of libfabric's providers. fi_send and similar functions are inline: they call
 * the functions in the endpoint's tables, which have no symbols. Tables for messages, tagged
 * messages and remote memory look alike; they are told apart by where in an endpoint the code
 * stores their addresses. x86-64 only.
 */
#ifndef POV_LAYERS_OFI_LIBRARY_OFI_H
#define POV_LAYERS_OFI_LIBRARY_OFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct fabric_function {
	const char *name; /* name of the inline function that calls it: "fi_send" */
	uint64_t addr;
};

/*
 * Lists the functions, at most max, and returns their number. Each pair of function and name
 * appears once. Functions that are in tables of two kinds, or twice in a table, are left out: they
 * only return an error.
 */
size_t fabric_ops_find(const struct elf_file *f, struct fabric_function *out, size_t max);

/*
 * Finds where libfabric's code stores addresses of function tables in objects. A table's first word
 * is its size in bytes, followed by the pointers.
 */

struct fabric_store {
	uint64_t table;
	uint64_t site; /* address of the storing instruction */
	int64_t off;   /* offset in the object */
};

/* Lists all stores, sorted by site. The caller frees *out. */
size_t fabric_flow_stores(const struct elf_file *f, struct fabric_store **out);
/* Returns how many pointers a table has; 0: there is no table at the address. */
unsigned int fabric_table_members(const struct elf_file *f, uint64_t table);
/* Returns the function in member i; false if it is null, or in another file. */
bool fabric_table_member(const struct elf_file *f, uint64_t table, unsigned int i,
			 uint64_t *function);

#endif
