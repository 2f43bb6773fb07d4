/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads recordings of several hosts with clocks that agree. The clocks start from the time of day
 * (trace/trace_join.h). Messages between the hosts then correct them (analysis/corridor.h). A
 * separate replay matches these messages; two replays are needed if the clocks were far off. A host
 * keeps its time of day if its messages go only one way, or if the user gave its offset.
 *
 * Hosts are corrected one after the other, along the tree of the smallest uncertainties: the next
 * host is the one whose clock the corrected hosts determine best. If possible, no message arrives
 * before it is sent.
 */
#ifndef POV_ANALYSIS_HOST_CLOCKS_H
#define POV_ANALYSIS_HOST_CLOCKS_H

#include "analysis/corridor.h"
#include "analysis/match.h"
#include "lib/map.h"
#include "trace/trace_join.h"

/* Collects the bounds between all pairs of hosts. Its sink is matches.sink. */
struct host_clocks {
	struct matches matches;
	/*
	 * Lower host's number, higher host's number → struct corridor. The corridor bounds what
	 * must be added to the higher host's times.
	 */
	struct map pairs;
};

void host_clocks_init(struct host_clocks *a);
void host_clocks_release(struct host_clocks *a);
/*
 * Finds the clocks of nhosts hosts between two times. Call after the replay. given: hosts that keep
 * their clocks.
 */
void host_clocks_find(const struct host_clocks *a, uint32_t nhosts, const bool *given,
		      uint64_t from_ns, uint64_t to_ns, struct trace_clock_fit *out);

/* Like trace_join_open, followed by the correction above if there is more than one recording. */
int host_clocks_join(const struct trace_source *source, size_t cnt, struct trace **out);

#endif
