/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds a few kernel types by name, with one pass over the file for each. libbpf builds an index of
 * all types for any lookup and takes ten times as long.
 */
#ifndef POV_TARGET_KERNEL_TYPES_H
#define POV_TARGET_KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf_header;

#define KERNEL_TYPES_PATH "/sys/kernel/btf/vmlinux"

struct kernel_types {
	const uint8_t *data; /* contents of the file */
	size_t bytes;
	const struct btf_header *header;
};

/* Reads a file in the kernel's type format. 0 or -errno. */
int kernel_types_open(const char *path, struct kernel_types *out);
void kernel_types_close(struct kernel_types *t);
/* Returns the id of the type with this name and kind (BTF_KIND_*), or -ENOENT. */
int kernel_types_find(const struct kernel_types *t, const char *name, unsigned int kind);
/* Returns the number of parameters of the function type that a typedef points to, or -ENOENT. */
int kernel_types_params(const struct kernel_types *t, const char *name);

#endif
