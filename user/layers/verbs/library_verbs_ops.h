/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where struct verbs_context_ops has the functions of a provider that programs reach by pointers. It is private to rdma-core and
 * changes with its releases, within one version of the private interface, too; but libibverbs itself copies each member to where programs
 * look for it, and that place is the same in all releases. So its code tells. x86-64.
 */
#ifndef POV_LAYERS_VERBS_LIBRARY_VERBS_OPS_H
#define POV_LAYERS_VERBS_LIBRARY_VERBS_OPS_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

enum verbs_op {
	VERBS_POST_SEND,
	VERBS_POST_RECV,
	VERBS_POST_SRQ_RECV,
	VERBS_POLL_CQ,
	VERBS_OP_CNT
};

struct verbs_slots {
	uint16_t offset[VERBS_OP_CNT]; /* in the table … */
	uint64_t table_bytes;	       /* … which is so long */
};

/* From libibverbs: 0 or -ENOENT, and then nobody can say. */
int verbs_slots_read(const struct elf_file *libibverbs, struct verbs_slots *out);

/* A function of a provider. */
struct verbs_function {
	enum verbs_op op;
	uint64_t addr;
};

/*
 * Of all tables in a provider's file that it may hand to verbs_set_ops; each function once for each op. How many were written, at most
 * max; *tables: how many tables there are.
 */
size_t verbs_functions_find(const struct elf_file *provider, const struct verbs_slots *slots,
			    struct verbs_function *functions, size_t max, size_t *tables);

#endif
