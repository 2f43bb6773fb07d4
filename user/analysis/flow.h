/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which bytes a call handed over or can receive. A persistent operation moves nothing when it is made and
 * its bytes each time it is started: those are remembered by process and request.
 */
#ifndef POV_ANALYSIS_FLOW_H
#define POV_ANALYSIS_FLOW_H

#include "base/map.h"
#include "model/model.h"

struct flow {
	const struct func_info *func; /* that described the operation: MPI_Send_init, not MPI_Start */
	bool sends, receives;
	int64_t send_bytes, recv_bytes; /* BYTES_UNKNOWN possible */
};

struct flows {
	struct map persistent; /* hash of process and request → owned list */
	size_t cnt;
};

/* Tells each operation the call set off. Calls of one process must come in order. */
void flows_of_call(struct flows *f, const struct model_call *c,
		   void (*tell)(void *ctx, const struct model_call *c, const struct flow *flow),
		   void *ctx);
void flows_release(struct flows *f);

#endif
