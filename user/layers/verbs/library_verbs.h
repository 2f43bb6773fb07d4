/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds where struct verbs_context_ops has a provider's functions that programs reach by pointers.
 * The struct is private to rdma-core and changes between releases, even within one version of the
 * private interface. But libibverbs copies each member to where programs look for it, and that
 * place is the same in all releases, so its code shows the offsets. x86-64 only.
 */
#ifndef POV_LAYERS_VERBS_LIBRARY_VERBS_H
#define POV_LAYERS_VERBS_LIBRARY_VERBS_H

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
	uint16_t offset[VERBS_OP_CNT]; /* offsets in the table */
	uint64_t table_bytes;	       /* size of the table */
};

/* Reads the offsets from libibverbs. 0, or -ENOENT: then they are unknown. */
int verbs_slots_read(const struct elf_file *libibverbs, struct verbs_slots *out);

/* A function of a provider. */
struct verbs_function {
	enum verbs_op op;
	uint64_t addr;
};

/*
 * Lists functions in all tables of a provider's file that it may pass to verbs_set_ops, each
 * function once for each op, at most max. Returns their number; *tables is the number of tables.
 */
size_t verbs_functions_find(const struct elf_file *provider, const struct verbs_slots *slots,
			    struct verbs_function *functions, size_t max, size_t *tables);

#endif
