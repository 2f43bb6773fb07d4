/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Decides which functions are throttled, and which return, so that tracing costs no more than the
 * limit (record --max-overhead). It takes numbers and returns numbers; session_limit.c measures and
 * acts.
 *
 * If the probes cost a process more than the limit, its costliest functions that do not wait for
 * others are only counted. If that is not enough, they are detached. A function returns when all
 * processes would have been well below the limit with it for several looks in a row; each time that
 * it is throttled again, it needs more such looks. A decision holds for all processes, and the
 * process with the highest cost decides.
 */
#ifndef POV_RECORD_PROBES_LIMIT_H
#define POV_RECORD_PROBES_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"

/*
 * Share of the limit that may be spent on probing detached functions, to see whether they have
 * calmed down.
 */
#define LIMIT_SAMPLES 0.2

struct limit_func {
	bool may_shed;
	uint8_t state; /* enum pov_limit_state, at most DETACHED */
	uint8_t calm;  /* calm looks in a row */
	uint8_t need;  /* calm looks that it needs to return; 0: never throttled yet */
};

/* Zero-initialise it, then call limit_init. */
struct limit {
	double pct;		 /* the limit, in percent of each process's time */
	double counted_part;	 /* cost of counting a call as a fraction of recording it */
	struct limit_func *func; /* by row of the function table; owned */
	uint32_t cnt;
	uint32_t detached; /* number of functions that are detached now */
};

/*
 * The cost of a function in a process, in percent of the process's time. Rows of one process may
 * come in any order.
 */
struct limit_cost {
	uint32_t tgid;
	uint16_t func;	 /* POV_LIMIT_ALL: cost that belongs to no row and is never throttled */
	double now_pct;	 /* its actual cost */
	double full_pct; /* its cost if it had been recorded */
};

struct limit_change {
	uint16_t func;
	uint8_t state;
	uint32_t tgid; /* the process with the highest cost */
	double pct;    /* cost of all functions in that process */
};

/* The process with the highest cost that cannot be reduced further. pct 0: there is none. */
struct limit_excess {
	uint32_t tgid;
	double pct;
};

void limit_init(struct limit *l, double pct, double counted_part, const bool *may_shed,
		uint32_t cnt);
void limit_release(struct limit *l);
/*
 * Makes one decision. Sorts cost. sampled: cost includes what detached functions would cost, and
 * one without a row has made no calls; else their cost is unknown this time. out has room for
 * l->cnt changes. Returns the number of changes, which are then in force.
 */
size_t limit_decide(struct limit *l, struct limit_cost *cost, size_t n, bool sampled,
		    struct limit_change *out, struct limit_excess *excess);

#endif
