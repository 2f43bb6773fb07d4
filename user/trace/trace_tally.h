/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Counts records while they are written. Private to user/trace. */
#ifndef POV_TRACE_TALLY_H
#define POV_TRACE_TALLY_H

#include "abi/event.h"
#include "trace/trace_write.h"

/* Adds what a record is, besides a record and a call. */
void trace_tally_add_other(struct trace_tally *t, const struct pov_hdr *rec);

static inline void trace_tally_add(struct trace_tally *t, const struct pov_hdr *rec)
{
	t->records++;
	if (rec->kind == POV_KIND_CALL) /* most are */
		t->calls++;
	else
		trace_tally_add_other(t, rec);
}

#endif
