/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Recordings of several hosts, read together with clocks that agree: by the time of day first (trace/trace_join.h), then corrected by the
 * messages between the hosts (analysis/corridor.h), which a replay of its own matches; two replays if the
 * clocks were far off. A host whose messages go one way only keeps the time of day, and so does one with an offset that the user gave. Of several hosts the one comes next that one of those
 * before it tells best, along the tree of the smallest uncertainties; so that no message of any of them arrives before it is sent, if that can be.
 */
#ifndef POV_ANALYSIS_HOST_CLOCKS_H
#define POV_ANALYSIS_HOST_CLOCKS_H

#include "analysis/corridor.h"
#include "analysis/match.h"
#include "lib/map.h"
#include "trace/trace_join.h"

/* A sink, matches.sink: all bounds between hosts. */
struct host_clocks {
	struct matches matches;
	struct map
		pairs; /* the lower host's number, the higher one's → struct corridor, of what is to be added to the higher one's times */
};

void host_clocks_init(struct host_clocks *a);
void host_clocks_release(struct host_clocks *a);
/* After the replay, nhosts of them, whose times are to lie between two times. given: keeps its clock. */
void host_clocks_find(const struct host_clocks *a, uint32_t nhosts, const bool *given,
		      uint64_t from_ns, uint64_t to_ns, struct trace_clock_fit *out);

/* trace_join_open, and what is above. Of one recording it is trace_join_open. */
int host_clocks_join(const struct trace_source *source, size_t cnt, struct trace **out);

#endif
