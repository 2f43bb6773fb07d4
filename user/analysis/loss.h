/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds which classes of records are missing, and when, so that reports can mark incomplete
 * figures. A loss is known by its ring and its time. A record lies on the ring of the CPU on which
 * the thread ran, so any process that lived at that time may be affected.
 */
#ifndef POV_ANALYSIS_LOSS_H
#define POV_ANALYSIS_LOSS_H

#include "abi/event.h"
#include "model/model.h"

/* Bits for what is missing: 1 << enum pov_class, and the bits below. */
#define LOSS_DAMAGED (1u << 6)	    /* blocks of the file are damaged */
#define LOSS_MISSED_CALLS (1u << 7) /* calls that never made a record */
#define LOSS_MISSED (1u << 8)	    /* events of any kind that never made a record */
/*
 * The overhead limit left out calls: COUNTED calls were only counted, DETACHED calls not even that.
 */
#define LOSS_COUNTED (1u << 9)
#define LOSS_DETACHED (1u << 10)
#define LOSS_BITS 11
extern const char *const loss_names[LOSS_BITS]; /* names of the bits, by bit number */

#define LOSS_CALL (1u << POV_CLASS_CALL)
#define LOSS_SPIN (1u << POV_CLASS_SPIN)
#define LOSS_MORE (1u << POV_CLASS_MORE)
#define LOSS_SCHED (1u << POV_CLASS_SCHED)
#define LOSS_TASK (1u << POV_CLASS_TASK)

/* Set with LOSS_SCHED: some losses came unannounced, so states before them may be wrong. */
#define LOSS_UNANNOUNCED (1u << LOSS_BITS)
/* Set with LOSS_COUNTED: the bytes of the counted calls are unknown. */
#define LOSS_COUNTED_BYTES (1u << (LOSS_BITS + 1))
/*
 * Nothing is lost, but some messages or collectives are unmatched, so paths from rank to rank miss
 * them.
 */
#define LOSS_OF_PATH (1u << (LOSS_BITS + 2))

#define LOSS_LEFT_OUT (LOSS_COUNTED | LOSS_DETACHED)

/* Losses that affect the number and time of calls. */
#define LOSS_OF_CALLS \
	(LOSS_CALL | LOSS_SPIN | LOSS_DAMAGED | LOSS_MISSED_CALLS | LOSS_MISSED | LOSS_LEFT_OUT)
/*
 * Losses that affect the bytes moved: a persistent request may be mistaken for another, or a status
 * may be missing.
 */
#define LOSS_OF_BYTES \
	(LOSS_CALL | LOSS_MORE | LOSS_DAMAGED | LOSS_MISSED_CALLS | LOSS_MISSED | LOSS_LEFT_OUT)
/*
 * Losses that affect thread states and what CPUs ran. The time in which records were lost is
 * unknown.
 */
#define LOSS_OF_STATES (LOSS_SCHED)
/* Losses that affect thread states at unknown times, and also which threads existed, and when. */
#define LOSS_OF_LIVES (LOSS_TASK | LOSS_DAMAGED | LOSS_MISSED)
#define LOSS_OF_ANY (LOSS_OF_CALLS | LOSS_OF_BYTES | LOSS_OF_STATES | LOSS_OF_LIVES)

struct loss_span {
	uint64_t from_ns, to_ns;
};

struct loss_class {
	struct loss_span *span; /* in order of time; owned */
	uint32_t n;
	uint64_t cnt;
};

struct losses {
	struct model_sink sink;
	struct loss_class class[POV_CLASS_CNT];
	struct loss_class left_out[2]; /* [0] detached, [1] counted */
	uint32_t everywhere;	       /* bits of losses whose time is unknown */
	/* by ring: whether it lost scheduler records; owned */
	bool *ring;
	uint32_t nring; /* allocated */
	uint32_t rings, cpus_per_ring;
};

/* spans kept separately per class; further ones are merged into one */
#define LOSS_SPANS_MAX 4096

/*
 * Reads the number of lost records of each class from the trace's end block, as the recorder
 * counted them.
 */
void losses_counted(const json_t *end, uint64_t cnt[POV_CLASS_CNT]);
void losses_init(struct losses *a);
void losses_release(struct losses *a);
/* Returns the bits for what is missing in a span of time. Call after the replay. */
uint32_t losses_in(const struct losses *a, uint64_t from_ns, uint64_t to_ns);
/* Returns the bits for what is missing of a CPU's activity. Call after the replay. */
uint32_t losses_of_core(const struct losses *a, uint32_t cpu);

#endif
