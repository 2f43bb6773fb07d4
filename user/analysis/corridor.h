/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How far two clocks are apart, by bounds from messages: nothing arrives before it is sent, so each message one way says that the difference
 * of the clocks was at least something at its time, each message back that it was at most something. All straight lines (offset
 * and drift) between these bounds are possible; the one that is chosen has the drift in the middle of those possible, and of the lines
 * of that drift the one in the middle. How far the truth can be from it is known, too.
 *
 * Method: A. Duda, G. Harrus, Y. Haddad, G. Bernard, "Estimating Global Time in Distributed Systems", ICDCS 1987 (convex hulls). Memory:
 * the corners of the two hulls, of which straight clocks have some dozens.
 */
#ifndef POV_ANALYSIS_CORRIDOR_H
#define POV_ANALYSIS_CORRIDOR_H

#include <stdint.h>

struct bound {
	double at_ns, apart_ns; /* since the first bound; against the first bound */
};

/* From one side. */
struct bounds {
	struct bound *bound; /* owned */
	uint32_t cnt, room;
	uint64_t messages;
};

struct corridor {
	struct bounds least, most; /* most: with the signs of differences changed */
	uint64_t first_ns;
	int64_t first_apart_ns;
};

/* Clocks that differ by more than this in drift are none that anybody uses (NTP slews by half of it). */
#define CORRIDOR_DRIFT_MAX 1e-3

enum corridor_state {
	CORRIDOR_OPEN, /* no bounds from both sides */
	CORRIDOR_LINE,
	CORRIDOR_CLOSED, /* no straight line fits between them */
};

struct corridor_line {
	double apart_ns;       /* at from_ns */
	double drift;	       /* what that changes in a nanosecond */
	double uncertainty_ns; /* the truth is not farther from it, from from_ns to to_ns */
	double violated_ns; /* of CORRIDOR_CLOSED: by how much some bound is violated by any line */
};

/* At a time the clocks were at least or at most so far apart. */
void corridor_least(struct corridor *c, uint64_t at_ns, int64_t apart_ns);
void corridor_most(struct corridor *c, uint64_t at_ns, int64_t apart_ns);
/* out: of CORRIDOR_LINE all but violated_ns, of CORRIDOR_CLOSED only that. */
enum corridor_state corridor_line(const struct corridor *c, uint64_t from_ns, uint64_t to_ns,
				  struct corridor_line *out);
/* How far the truth can be from a line (apart_ns, drift) that is between the bounds. */
double corridor_uncertainty(const struct corridor *c, uint64_t from_ns, uint64_t to_ns,
			    const struct corridor_line *line);
void corridor_release(struct corridor *c);

#endif
