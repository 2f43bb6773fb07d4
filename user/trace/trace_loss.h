/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Losses: periods in which scheduler records are missing, so that nothing is concluded across them.
 * Either the records were lost, which a later record reports, or the file is damaged. trace_merge.c
 * inserts losses among the records. Private to user/trace.
 */
#ifndef POV_TRACE_LOSS_H
#define POV_TRACE_LOSS_H

#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"

struct trace;

struct trace_loss {
	uint64_t since_ns, until_ns; /* until_ns UINT64_MAX: lasts to the end */
	uint16_t ring;		     /* TRACE_RING_ANY or any ring that does not exist: all rings */
};
#define TRACE_RING_ANY UINT16_MAX

struct trace_losses {
	struct trace_loss *loss; /* owned, unordered */
	size_t cnt;
};

void trace_losses_add(struct trace_losses *l, uint64_t since_ns, uint64_t until_ns, uint16_t ring);
/* Adds the losses that a block's records report. */
void trace_losses_of_records(struct trace_losses *l, const uint64_t *words, uint32_t nwords);
/* Adds the losses from missing blocks. */
void trace_losses_of_holes(struct trace_losses *l, const struct trace *t);
/* Makes the record for the begin or end of a loss. */
struct pov_lost trace_loss_record(const struct trace_loss *l, enum pov_kind kind, uint64_t ts_ns);
void trace_losses_release(struct trace_losses *l);

#endif
