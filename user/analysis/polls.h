/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Splits the time of merged polls. From the entry of the first poll to the return of the last, a
 * thread is in one of three places. It is in the library, in the overhead that recording adds to
 * each poll, or in between: in its own code, or off the CPU. Reports and timelines both use this
 * split, so that they agree.
 */
#ifndef POV_ANALYSIS_POLLS_H
#define POV_ANALYSIS_POLLS_H

#include "model/model.h"

struct poll_times {
	uint64_t polls, runs;
	uint64_t span_ns;   /* sum of the other times */
	uint64_t inside_ns; /* the polls' own durations */
	/* polls × calibrated cost, at most span_ns - inside_ns */
	uint64_t probes_ns;
	/* the rest; it includes the probes if their cost is unknown */
	uint64_t between_ns;
};

struct poll_times poll_times_of(const struct model_spin *s, const struct poll_cost *cost);

#endif
