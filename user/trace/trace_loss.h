/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Over which stretches of time scheduler records are missing, so that nothing is concluded across them: because they were lost, of
 * which a record tells afterwards, or because the file is damaged. Private to user/trace: trace_merge.c puts them
 * among the records.
 */
#ifndef POV_TRACE_LOSS_H
#define POV_TRACE_LOSS_H

#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"

struct trace;

struct trace_loss {
	uint64_t since_ns, until_ns; /* the last one UINT64_MAX: it lasts */
	uint16_t ring;		     /* TRACE_RING_ANY, or another one that is not there: any */
};
#define TRACE_RING_ANY UINT16_MAX

struct trace_losses {
	struct trace_loss *loss; /* owned, in no order */
	size_t cnt;
};

void trace_losses_add(struct trace_losses *l, uint64_t since_ns, uint64_t until_ns, uint16_t ring);
/* Those that a block's records tell of. */
void trace_losses_of_records(struct trace_losses *l, const uint64_t *words, uint32_t nwords);
/* Those of blocks that are missing altogether. */
void trace_losses_of_holes(struct trace_losses *l, const struct trace *t);
/* Its begin or its end, told at ts_ns. */
struct pov_lost trace_loss_record(const struct trace_loss *l, enum pov_kind kind, uint64_t ts_ns);
void trace_losses_release(struct trace_losses *l);

#endif
