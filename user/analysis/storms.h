/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Storms of small messages: one rank sends another at least STORM_MIN messages of at most
 * STORM_BYTES each, in quick succession, and receives nothing from it meanwhile. They could be one
 * message.
 */
#ifndef POV_ANALYSIS_STORMS_H
#define POV_ANALYSIS_STORMS_H

#include "lib/map.h"
#include "model/model.h"

#define STORM_MIN 256
#define STORM_BYTES 256
/* longest gap, from the end of one sending call to the begin of the next */
#define STORM_GAP_NS 50000

/* Storms that one process sent to another. */
struct storm {
	/* receiver NULL: not in the trace */
	const struct model_process *sender, *receiver;
	/* function that sent all of them; NULL: several did */
	const struct func_info *func;
	int32_t peer_world;
	uint64_t storms, messages, bytes, ns; /* ns: time in the sending calls */
	/* worst: number of messages of the longest storm */
	uint64_t worst, worst_from_ns, worst_to_ns;
	struct {
		uint64_t messages, bytes, ns, from_ns, to_ns;
	} now; /* the current run of messages */
};

struct storms {
	struct model_sink sink;
	const struct model *model;
	struct map pairs; /* process, peer_world → struct storm */
};

void storms_init(struct storms *a);
void storms_release(struct storms *a);

#endif
