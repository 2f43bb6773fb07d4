/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
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
#ifndef POV_ANALYSIS_CORRIDOR_H
#define POV_ANALYSIS_CORRIDOR_H

#include <stdint.h>

struct bound {
	double at_ns, apart_ns; /* both relative to the first bound */
};

/* Bounds of one side, lower or upper. */
struct bounds {
	struct bound *bound; /* owned */
	uint32_t cnt, room;
	uint64_t messages;
};

struct corridor {
	/* most holds differences with their signs changed */
	struct bounds least, most;
	uint64_t first_ns;
	int64_t first_apart_ns;
};

/* Largest drift considered; no clock in use drifts by more (NTP slews by half of it). */
#define CORRIDOR_DRIFT_MAX 1e-3

enum corridor_state {
	CORRIDOR_OPEN, /* bounds from at most one side */
	CORRIDOR_LINE,
	CORRIDOR_CLOSED, /* no straight line fits between the bounds */
};

struct corridor_line {
	double apart_ns; /* difference at from_ns */
	double drift;	 /* change of the difference, in ns per ns */
	/* largest distance from the truth between from_ns and to_ns */
	double uncertainty_ns;
	/* CORRIDOR_CLOSED: any line violates some bound by at least this much */
	double violated_ns;
};

/*
 * Adds a bound: at at_ns the clocks were at least (corridor_least) or at most (corridor_most)
 * apart_ns apart.
 */
void corridor_least(struct corridor *c, uint64_t at_ns, int64_t apart_ns);
void corridor_most(struct corridor *c, uint64_t at_ns, int64_t apart_ns);
/* CORRIDOR_LINE sets all of *out except violated_ns; CORRIDOR_CLOSED sets only violated_ns. */
enum corridor_state corridor_line(const struct corridor *c, uint64_t from_ns, uint64_t to_ns,
				  struct corridor_line *out);
/* How far the truth can be from a line (apart_ns, drift) that lies between the bounds. */
double corridor_uncertainty(const struct corridor *c, uint64_t from_ns, uint64_t to_ns,
			    const struct corridor_line *line);
void corridor_release(struct corridor *c);

#endif
