/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where libfabric's code stores addresses of tables of functions in objects. A table's first word is its size in bytes, behind which
 * there are as many pointers. x86-64.
 */
#ifndef POV_LAYERS_OFI_LIBRARY_OFI_FLOW_H
#define POV_LAYERS_OFI_LIBRARY_OFI_FLOW_H
#if defined(__x86_64__)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct fabric_store {
	uint64_t table;
	uint64_t site; /* address of the instruction */
	int64_t off;   /* in the object */
};

/* All of them, by their sites; to be freed. */
size_t fabric_flow_stores(const struct elf_file *f, struct fabric_store **out);
/* How many pointers a table has; 0 if there is none at the address. */
unsigned int fabric_table_members(const struct elf_file *f, uint64_t table);
/* The function that member i leads to; false if it is null, or in another file. */
bool fabric_table_member(const struct elf_file *f, uint64_t table, unsigned int i,
			 uint64_t *function);

#endif
#endif
