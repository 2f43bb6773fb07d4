/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the time of merged polls is made of. From the first one's entry to the last one's return a thread is inside
 * the library, or in what recording adds to every poll, or between: in its own code, or off the CPU. Reports
 * and timelines split it here, so that they say the same.
 */
#ifndef POV_ANALYSIS_POLLS_H
#define POV_ANALYSIS_POLLS_H

#include "model/model.h"

struct poll_times {
	uint64_t polls, runs;
	uint64_t span_ns;   /* = the sum of the others */
	uint64_t inside_ns; /* the polls' own durations */
	uint64_t probes_ns; /* polls × calibrated cost, as far as there is room for it beside inside_ns */
	uint64_t between_ns; /* the rest; the probes too if their cost is not known */
};

struct poll_times poll_times_of(const struct model_spin *s, const struct poll_cost *cost);

#endif
