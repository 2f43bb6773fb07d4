/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Storms of small messages: one rank sends another one at least STORM_MIN messages of at most STORM_BYTES each, one close behind the other,
 * and receives none of it meanwhile: they could be one message.
 */
#ifndef POV_ANALYSIS_STORMS_H
#define POV_ANALYSIS_STORMS_H

#include "lib/map.h"
#include "model/model.h"

#define STORM_MIN 256
#define STORM_BYTES 256
#define STORM_GAP_NS 50000 /* from the end of one call that sends to the begin of the next */

/* What one process sent another one. */
struct storm {
	const struct model_process *sender, *receiver; /* receiver NULL: it is not in the trace */
	const struct func_info *func; /* that sent all of them; NULL: several did */
	int32_t peer_world;
	uint64_t storms, messages, bytes, ns;	    /* ns: in the calls that send them */
	uint64_t worst, worst_from_ns, worst_to_ns; /* messages of the longest one */
	struct {
		uint64_t messages, bytes, ns, from_ns, to_ns;
	} now; /* under way */
};

struct storms {
	struct model_sink sink;
	const struct model *model;
	struct map pairs; /* process, peer_world → struct storm */
};

void storms_init(struct storms *a);
void storms_release(struct storms *a);

#endif
