/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The functions of libfabric's providers. fi_send and its like are inline: they call what the endpoint's tables hold, and the
 * tables' functions have no names. Tables for messages, tagged messages and remote memory look alike; which one is which is told by
 * where in an endpoint code stores its address. x86-64.
 */
#ifndef POV_LAYERS_OFI_LIBRARY_OFI_OPS_H
#define POV_LAYERS_OFI_LIBRARY_OFI_OPS_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct fabric_function {
	const char *name; /* of the inline function that calls it: "fi_send" */
	uint64_t addr;
};

/*
 * How many were written, at most max: each pair once, and none that tables of two kinds, or two places of a table, share (they refuse to do
 * what is asked for).
 */
size_t fabric_ops_find(const struct elf_file *f, struct fabric_function *out, size_t max);

#endif
