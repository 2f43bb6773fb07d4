/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls of all living processes that define the members of communicators, groups and windows
 * (POV_LEARN_RECORDED). They are written in their order at almost one time: readers that learn from
 * them need only the order (layers/mpi/mpi_comm.h).
 */
#ifndef POV_RECORD_FLIGHT_DEFINING_CALLS_H
#define POV_RECORD_FLIGHT_DEFINING_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pov_fn;
struct pov_hdr;

/* A kept call, or a record MORE, which arrives before its call. */
struct defining_call {
	uint32_t tgid; /* MORE: 0 until its call has arrived */
	uint64_t begin_ns, end_ns;
	struct pov_hdr *rec; /* owned */
};

struct defining_calls {
	const struct pov_fn *fns;
	uint32_t fn_cnt;
	struct defining_call *call; /* kept calls, cnt of them */
	struct defining_call *more; /* records MORE that wait for their call, more_cnt of them */
	size_t cnt, cap, more_cnt;
	uint64_t bytes;
	uint64_t forgotten;
};

void defining_calls_init(struct defining_calls *k, const struct pov_fn *fns, uint32_t fn_cnt);
void defining_calls_release(struct defining_calls *k);
void defining_calls_record(struct defining_calls *k, const struct pov_hdr *rec);
void defining_calls_forget(struct defining_calls *k, uint32_t pid);
void defining_calls_prune(struct defining_calls *k, bool (*is_gone)(void *ctx, uint32_t pid),
			  void *ctx);
void defining_calls_write(const struct defining_calls *k, uint64_t begin_ns,
			  void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx);

#endif
