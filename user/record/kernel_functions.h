/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Kernel functions that are recorded like library functions: the rows of the layer that is in the
 * kernel (struct layer). Several kinds of BPF programs can record such a function; the best one
 * that this kernel supports is used. Functions without one are printed and left out.
 */
#ifndef POV_RECORD_KERNEL_FUNCTIONS_H
#define POV_RECORD_KERNEL_FUNCTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_link;
struct bpf_object;
struct kernel_function;

struct kernel_functions {
	struct kernel_function *function; /* the wanted functions */
	size_t cnt;
	struct bpf_link **link;
	size_t link_cnt;
};

/*
 * Call this before the object is loaded. Selects the programs of the wanted rows of the function
 * table for loading.
 */
void kernel_functions_choose(struct kernel_functions *k, struct bpf_object *obj,
			     const bool *wanted);
void kernel_functions_attach(struct kernel_functions *k);
/* Describes the result as a meta object "library". The caller owns it. */
json_t *kernel_functions_describe(const struct kernel_functions *k);
void kernel_functions_detach(struct kernel_functions *k);
void kernel_functions_release(struct kernel_functions *k);

/* Returns the first row of the function table that is a kernel function. */
uint32_t kernel_functions_row(void);

/*
 * Lists all kernel functions: [{name, way: how this kernel can record it, "" if it cannot, whole:
 * from begin to end}]. The caller owns the list.
 */
json_t *kernel_functions_list(void);

#endif
