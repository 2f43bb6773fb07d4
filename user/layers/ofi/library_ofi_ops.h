/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the functions of libfabric's providers. fi_send and similar functions are inline: they call
 * the functions in the endpoint's tables, which have no symbols. Tables for messages, tagged
 * messages and remote memory look alike; they are told apart by where in an endpoint the code
 * stores their addresses. x86-64 only.
 */
#ifndef POV_LAYERS_OFI_LIBRARY_OFI_OPS_H
#define POV_LAYERS_OFI_LIBRARY_OFI_OPS_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct fabric_function {
	const char *name; /* name of the inline function that calls it: "fi_send" */
	uint64_t addr;
};

/*
 * Lists the functions, at most max, and returns their number. Each pair appears once. Functions
 * shared by tables of two kinds, or by two places of a table, are left out: these only refuse what
 * is requested.
 */
size_t fabric_ops_find(const struct elf_file *f, struct fabric_function *out, size_t max);

#endif
