/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads recordings of several hosts with clocks that agree. The clocks start from the time of day
 * (trace/trace_join.h). Messages between the hosts then correct them (struct clock_bounds). A
 * separate replay matches these messages; two replays are needed if the clocks were far off. A host
 * keeps its time of day if its messages go only one way, or if the user gave its offset.
 *
 * Hosts are corrected one after the other, along the tree of the smallest uncertainties: the next
 * host is the one whose clock the corrected hosts determine best. If possible, no message arrives
 * before it is sent.
 */
#ifndef POV_ANALYSIS_HOST_CLOCKS_H
#define POV_ANALYSIS_HOST_CLOCKS_H

#include <stdint.h>

#include "analysis/match.h"
#include "lib/map.h"
#include "trace/trace_join.h"

/* Collects the bounds between all pairs of hosts. Its sink is matches.sink. */
struct host_clocks {
	struct matches matches;
	/*
	 * Lower host's number, higher host's number → struct clock_bounds. They bound what
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

/*
 * How far two clocks are apart, from bounds that messages set. Nothing arrives before it is sent.
 * So each message in one direction sets a lower bound on the difference of the clocks at its time,
 * and each message back sets an upper bound. Every straight line (offset and drift) between these
 * bounds is possible. The chosen line has the middle of the possible drifts, and is the middle one
 * of the lines with that drift. The uncertainty is how far the truth can be from it.
 *
 * Method: A. Duda, G. Harrus, Y. Haddad, G. Bernard, "Estimating Global Time in Distributed
 * Systems", ICDCS 1987 (convex hulls). Memory is bounded by the corners of the two hulls; straight
 * clocks have some dozens.
 */

struct bound {
	double at_ns, apart_ns; /* both relative to the first bound */
};

/* Bounds of one side, lower or upper. */
struct bounds {
	struct bound *bound; /* owned */
	uint32_t cnt, room;
	uint64_t messages;
};

struct clock_bounds {
	/* most holds differences with their signs changed */
	struct bounds least, most;
	uint64_t first_ns;
	int64_t first_apart_ns;
};

/* Largest drift considered; no clock in use drifts by more (NTP slews by half of it). */
#define CLOCK_BOUNDS_DRIFT_MAX 1e-3

enum clock_bounds_state {
	CLOCK_BOUNDS_OPEN, /* bounds from at most one side */
	CLOCK_BOUNDS_LINE,
	CLOCK_BOUNDS_CLOSED, /* no straight line fits between the bounds */
};

struct clock_bounds_line {
	double apart_ns; /* difference at from_ns */
	double drift;	 /* change of the difference, in ns per ns */
	/* largest possible error between from_ns and to_ns */
	double uncertainty_ns;
	/* CLOCK_BOUNDS_CLOSED: any line violates some bound by at least this much */
	double violated_ns;
};

/*
 * Adds a bound: at at_ns the clocks were at least (clock_bounds_least) or at most
 * (clock_bounds_most) apart_ns apart.
 */
void clock_bounds_least(struct clock_bounds *c, uint64_t at_ns, int64_t apart_ns);
void clock_bounds_most(struct clock_bounds *c, uint64_t at_ns, int64_t apart_ns);
/* CLOCK_BOUNDS_LINE sets all of *out but violated_ns; CLOCK_BOUNDS_CLOSED sets only that. */
enum clock_bounds_state clock_bounds_line(const struct clock_bounds *c, uint64_t from_ns,
					  uint64_t to_ns, struct clock_bounds_line *out);
void clock_bounds_release(struct clock_bounds *c);

#endif
