/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Functions of the kernel that are traced as those of libraries are: the rows of the layer that lies in it (struct layer). There
 * are several ways to see one, each by programs of the kernel half; the best that this kernel has is taken. What it has none
 * for is said and left out.
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
	struct kernel_function *function; /* that are wanted */
	size_t cnt;
	struct bpf_link **link;
	size_t link_cnt;
};

/* Before the object is loaded: has those programs loaded that belong to wanted rows of the function table. */
void kernel_functions_choose(struct kernel_functions *k, struct bpf_object *obj,
			     const bool *wanted);
void kernel_functions_attach(struct kernel_functions *k);
/* How that went, as a meta object "library" of the trace. The caller owns it. */
json_t *kernel_functions_describe(const struct kernel_functions *k);
void kernel_functions_detach(struct kernel_functions *k);
void kernel_functions_release(struct kernel_functions *k);

/* Of the function table, the first row of such a function. */
uint32_t kernel_functions_row(void);

/* All that there are: [{name, way: by what it is seen here, "" if by nothing, whole: from begin to end}]. The caller owns it. */
json_t *kernel_functions_list(void);

#endif
