/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Looks a few types of the kernel up by name. Does only that, in one pass over the file for each: libbpf, which makes
 * an index of all types whenever it is asked for one, takes ten times as long.
 */
#ifndef POV_TARGET_KERNEL_TYPES_H
#define POV_TARGET_KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf_header;

#define KERNEL_TYPES_PATH "/sys/kernel/btf/vmlinux"

struct kernel_types {
	const uint8_t *data; /* the file */
	size_t bytes;
	const struct btf_header *header;
};

/* Reads a file in the kernel's type format. 0 or -errno. */
int kernel_types_open(const char *path, struct kernel_types *out);
void kernel_types_close(struct kernel_types *t);
/* Id of the type with this name and kind (BTF_KIND_*), or -ENOENT. */
int kernel_types_find(const struct kernel_types *t, const char *name, unsigned int kind);
/* Number of parameters of the function that a typedef is a pointer to, or -ENOENT. */
int kernel_types_params(const struct kernel_types *t, const char *name);

#endif
