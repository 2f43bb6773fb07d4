/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * When records of which kind are missing, so that no figure is given as if it were whole. A loss is known by
 * its ring and its time, and a record lies on the ring of the CPU where a thread happened to be: any process
 * that lived at that time may be the one concerned.
 */
#ifndef POV_ANALYSIS_LOSS_H
#define POV_ANALYSIS_LOSS_H

#include "abi/event.h"
#include "model/model.h"

/* What is missing, as bits: 1 << enum pov_class, and: */
#define LOSS_DAMAGED (1u << 6)	    /* blocks of the file */
#define LOSS_MISSED_CALLS (1u << 7) /* calls that never made a record */
#define LOSS_MISSED (1u << 8)	    /* events of whatever kind that never made a record */
/* Calls that are left out by the limit on the cost of tracing: counted, and not even that. */
#define LOSS_COUNTED (1u << 9)
#define LOSS_DETACHED (1u << 10)
#define LOSS_BITS 11
extern const char *const loss_names[LOSS_BITS]; /* by bit */

#define LOSS_CALL (1u << POV_CLASS_CALL)
#define LOSS_SPIN (1u << POV_CLASS_SPIN)
#define LOSS_MORE (1u << POV_CLASS_MORE)
#define LOSS_SCHED (1u << POV_CLASS_SCHED)
#define LOSS_TASK (1u << POV_CLASS_TASK)

/* With LOSS_SCHED: some of it came unannounced, so that states before it may be wrong. */
#define LOSS_UNANNOUNCED (1u << LOSS_BITS)
/* With LOSS_COUNTED: and nothing is said of these calls' bytes. */
#define LOSS_COUNTED_BYTES (1u << (LOSS_BITS + 1))
/* Not lost, but not matched: messages or collectives that are in no path from rank to rank. */
#define LOSS_OF_PATH (1u << (LOSS_BITS + 2))

#define LOSS_LEFT_OUT (LOSS_COUNTED | LOSS_DETACHED)

/* By what it touches. Calls: their number and time. */
#define LOSS_OF_CALLS \
	(LOSS_CALL | LOSS_SPIN | LOSS_DAMAGED | LOSS_MISSED_CALLS | LOSS_MISSED | LOSS_LEFT_OUT)
/* Which bytes were moved: a persistent request may be taken for another one, a status be missing. */
#define LOSS_OF_BYTES \
	(LOSS_CALL | LOSS_MORE | LOSS_DAMAGED | LOSS_MISSED_CALLS | LOSS_MISSED | LOSS_LEFT_OUT)
/* States of threads and what CPUs ran: where the records are lost, the time is unknown. */
#define LOSS_OF_STATES (LOSS_SCHED)
/* The same, but unknown where; and which threads there were, and when. */
#define LOSS_OF_LIVES (LOSS_TASK | LOSS_DAMAGED | LOSS_MISSED)
#define LOSS_OF_ANY (LOSS_OF_CALLS | LOSS_OF_BYTES | LOSS_OF_STATES | LOSS_OF_LIVES)

struct loss_span {
	uint64_t from_ns, to_ns;
};

struct loss_class {
	struct loss_span *span; /* by time; owned */
	uint32_t n;
	uint64_t cnt;
};

struct losses {
	struct model_sink sink;
	struct loss_class class[POV_CLASS_CNT];
	struct loss_class left_out[2]; /* detached, counted */
	uint32_t everywhere;	       /* bits that are missing at times unknown */
	bool *ring;		       /* lost scheduler records; owned */
	uint32_t nring;		       /* allocated */
	uint32_t rings, cpus_per_ring;
};

#define LOSS_SPANS_MAX 4096 /* kept one by one, by class; more are taken for one */

/* By class, how many records the recorder has counted as lost: the trace's end block has it. */
void losses_counted(const json_t *end, uint64_t cnt[POV_CLASS_CNT]);
void losses_init(struct losses *a);
void losses_release(struct losses *a);
/* After the replay: what is missing of a span of time, */
uint32_t losses_in(const struct losses *a, uint64_t from_ns, uint64_t to_ns);
/* and of what a CPU did. */
uint32_t losses_of_core(const struct losses *a, uint32_t cpu);

#endif
