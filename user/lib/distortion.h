/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * When tracing cost so much that what was recorded is no longer what the program does by itself, and what to do about
 * it. Recorder, report and timeline say it in these words.
 */
#ifndef POV_LIB_DISTORTION_H
#define POV_LIB_DISTORTION_H

#include <stdbool.h>
#include <stdint.h>

#define DISTORTION_PCT 5.0 /* of any rank's time: more is said first */
#define DISTORTION_FUNCS 3 /* that cost most are named */

/* A zeroed struct: nothing cost anything. Names are borrowed. */
struct distortion {
	double pct; /* of the time of the one that it cost most */
	double core_pct,
		room_pct; /* of that: povtrace had its core, it waited for room to record; else it recorded its calls */
	char who[48];	/* "rank 3" */
	uint32_t above; /* ranks that it cost more than DISTORTION_PCT */
	bool low;	/* records of calls are missing: it was at least that */
	struct {
		const char *name;
		double cost_ns;
	} func[DISTORTION_FUNCS + 1]; /* most expensive first; the last one is scratch */
	double funcs_ns;	      /* of all functions */
};

void distortion_add_func(struct distortion *d, const char *name, double cost_ns);
static inline bool distortion_matters(const struct distortion *d)
{
	return d->pct > DISTORTION_PCT;
}

/* Of the functions kept, the first so many make up at least half of the cost: these are to be left out. */
unsigned int distortion_func_cnt(const struct distortion *d);
/* A sentence without its full stop; the caller frees. */
char *distortion_text(const struct distortion *d);

#endif
