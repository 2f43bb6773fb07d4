/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Makes up the records of a plausible job, for measuring the trace file: four ranks on four cores, two
 * rings, exchanging halos (Irecv, Isend, Waitall, now and then Allreduce) between computations of
 * random length; library-made pointers and request handles that are reused out of order; context
 * switches and wake-ups. Deterministic: the same seed gives the same records.
 */
#ifndef POV_TESTS_TRACE_MIX_H
#define POV_TESTS_TRACE_MIX_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/event.h"

#define MIX_RANKS 4
#define MIX_PEERS 4
#define MIX_BATCH 64
#define MIX_RECORD_BYTES 1024

struct mix_rank {
	uint64_t now_ns;
	uint32_t tid;
	uint64_t send_req[MIX_PEERS], recv_req[MIX_PEERS];
	uint64_t bufs;
	uint32_t step;	/* of the iteration */
	uint32_t iteration;
};

struct mix {
	uint64_t random;
	struct mix_rank rank[MIX_RANKS];
	/* The last batch: all records of one step of one rank. */
	unsigned int stream;
	uint32_t nbatch;
	uint64_t batch[MIX_BATCH][MIX_RECORD_BYTES / 8];
	uint64_t calls; /* so far */
};

void mix_init(struct mix *m, uint64_t seed);
/* Makes the next batch; its records are &m->batch[0 … nbatch-1], of stream m->stream. */
void mix_next(struct mix *m);

#endif
