/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The decision that holds tracing below what it may cost (record --max-overhead): which functions are given up, and which come back.
 * Numbers in, numbers out; who measures and who acts is session_limit.c.
 *
 * If what the probes cost a process exceeds the limit, its costliest functions that do not wait for others are counted only; if it still
 * does, they are detached. One comes back when all processes would have been well below the limit with it for some looks in a row, and the
 * more of these the more often it has been given up before. All of this is for all processes: the one that it costs most decides.
 */
#ifndef POV_RECORD_PROBES_LIMIT_H
#define POV_RECORD_PROBES_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"

/* What detached functions may cost while it is looked whether they have calmed down, as a part of the limit. */
#define LIMIT_SAMPLES 0.2

struct limit_func {
	bool may_shed;
	uint8_t state; /* enum pov_limit_state, up to DETACHED */
	uint8_t calm;  /* looks in a row */
	uint8_t need;  /* so many are needed to come back; 0: never given up yet */
};

/* A zeroed struct and its members' values from limit_init. */
struct limit {
	double pct;		 /* of each process's time */
	double counted_part;	 /* what counting a call costs, as a part of recording it */
	struct limit_func *func; /* by row of the function table; owned */
	uint32_t cnt;
	uint32_t detached; /* functions that are, now */
};

/* What a function has cost a process, in percent of its time. Rows of one process may come in any order. */
struct limit_cost {
	uint32_t tgid;
	uint16_t func;	 /* POV_LIMIT_ALL: what is no row, and never given up */
	double now_pct;	 /* what it has cost */
	double full_pct; /* what it would have cost if it had been recorded */
};

struct limit_change {
	uint16_t func;
	uint8_t state;
	uint32_t tgid; /* whom it cost most, … */
	double pct;    /* … all functions together */
};

/* Of the process that it cost most, if what is left cannot be given up; pct 0: of none. */
struct limit_excess {
	uint32_t tgid;
	double pct;
};

void limit_init(struct limit *l, double pct, double counted_part, const bool *may_shed,
		uint32_t cnt);
void limit_release(struct limit *l);
/*
 * One look. cost is put in order. sampled: what detached functions would cost is among them (a function that is not has made no calls);
 * else that is not known this time. out: room for l->cnt; returns how many there are, which are in force then.
 */
size_t limit_decide(struct limit *l, struct limit_cost *cost, size_t n, bool sampled,
		    struct limit_change *out, struct limit_excess *excess);

#endif
