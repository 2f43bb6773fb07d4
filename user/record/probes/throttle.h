/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Decides which functions are throttled, so that tracing costs no process more than the limit
 * (record --max-overhead). It takes numbers and returns numbers; the session measures and acts.
 *
 * While a process is above the limit, its costliest function that does not wait for others is only
 * counted; one that is counted already is detached. Both last for the rest of the recording, and
 * hold for all processes.
 */
#ifndef POV_RECORD_PROBES_THROTTLE_H
#define POV_RECORD_PROBES_THROTTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"
#include "record/overhead.h"

struct throttle_func {
	bool may_throttle;
	bool may_detach; /* its probes can be detached; the caller updates it */
	uint8_t state;	 /* enum pov_limit_state */
};

/* Zero-initialise it, then call throttle_init. */
struct throttle {
	double pct;		    /* the limit, in percent of each process's time */
	struct throttle_func *func; /* by row of the function table; owned */
	uint32_t cnt;
};

struct throttle_change {
	uint16_t func;
	uint8_t state;
	uint32_t tgid; /* the process with the highest cost */
	double pct;    /* cost of all functions in that process */
};

void throttle_init(struct throttle *t, double pct, const bool *may_throttle, uint32_t cnt);
void throttle_release(struct throttle *t);
/*
 * Makes one decision by the cost of a window. Sorts share. out has room for t->cnt changes. Returns
 * the number of changes, which are then in force.
 */
size_t throttle_decide(struct throttle *t, struct overhead_share *share, size_t n,
		       struct throttle_change *out);

#endif
