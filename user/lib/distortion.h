/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Describes a recording in which tracing cost so much that the program no longer behaved as usual,
 * and what to do about it. Recorder, report and timeline use the same words.
 */
#ifndef POV_LIB_DISTORTION_H
#define POV_LIB_DISTORTION_H

#include <stdbool.h>
#include <stdint.h>

#define DISTORTION_PCT 5.0 /* share of any rank's or the run's time above which this comes first */
#define DISTORTION_FUNCS 3 /* most expensive functions that are named */

/* In a zeroed struct, nothing cost anything. Names are borrowed. */
struct distortion {
	/* share of the run's time by which it would be shorter without tracing; 0: unknown */
	double run_pct;
	bool by_cores;	 /* run_pct is the share of the ranks' cores that tracing took */
	double pct;	 /* overhead in the time of the rank with the highest overhead */
	double core_pct; /* part of pct in which povtrace had the rank's core */
	/* part of pct in which the rank waited for room to record */
	double room_pct;
	double switches_pct; /* part of pct: recording context switches; the rest is calls */
	char who[48];	     /* that rank: "rank 3" */
	uint32_t above;	     /* number of ranks with more than DISTORTION_PCT overhead */
	bool low;	     /* records of calls are missing: pct is a lower bound */
	struct {
		const char *name;
		double cost_ns;
	} func[DISTORTION_FUNCS + 1]; /* most expensive first; the last one is scratch */
	double funcs_ns;	      /* cost of all functions */
};

void distortion_add_func(struct distortion *d, const char *name, double cost_ns);
/* The larger one of run_pct and pct. */
static inline double distortion_most_pct(const struct distortion *d)
{
	return d->run_pct > d->pct ? d->run_pct : d->pct;
}

static inline bool distortion_matters(const struct distortion *d)
{
	return distortion_most_pct(d) > DISTORTION_PCT;
}

/*
 * Number of the most expensive functions that make up at least half of the cost and should be left
 * out.
 */
unsigned int distortion_func_cnt(const struct distortion *d);
/* A sentence without its full stop; the caller frees it. */
char *distortion_text(const struct distortion *d);

#endif
