/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls that say who the members of communicators, groups and windows are (POV_LEARN_RECORDED), of all processes that live. They are
 * given out in their order, one behind the other at one time: nothing but the order matters to who learns from them
 * (layers/mpi/mpi_comm.h).
 */
#ifndef POV_RECORD_FLIGHT_KNOWN_CALLS_H
#define POV_RECORD_FLIGHT_KNOWN_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pov_fn;
struct pov_hdr;

/* One that came before its call, if kind is MORE. */
struct known_call {
	uint32_t tgid; /* MORE: 0 until its call has come */
	uint64_t begin_ns, end_ns;
	struct pov_hdr *rec; /* owned */
};

struct known_calls {
	const struct pov_fn *fns;
	uint32_t fn_cnt;
	struct known_call *call, *more; /* kept; waiting for their call */
	size_t cnt, cap, more_cnt;
	uint64_t bytes;
	uint64_t forgotten;
};

void known_calls_init(struct known_calls *k, const struct pov_fn *fns, uint32_t fn_cnt);
void known_calls_release(struct known_calls *k);
void known_calls_record(struct known_calls *k, const struct pov_hdr *rec);
void known_calls_forget(struct known_calls *k, uint32_t pid);
void known_calls_prune(struct known_calls *k, bool (*is_gone)(void *ctx, uint32_t pid), void *ctx);
void known_calls_tell(const struct known_calls *k, uint64_t begin_ns,
		      void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx);

#endif
