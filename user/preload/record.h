/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Records one call of the calling thread, from its shim's two ends. */
#ifndef POV_PRELOAD_RECORD_H
#define POV_PRELOAD_RECORD_H

#include "preload/in_process.h"

/* In the shim's own frame: a call is known by where that is. */
struct call_mark {
	u64 canary;
};

/* Function `row` is not recorded, for now. Until something is known of it, it may be. */
static inline bool record_unused(u32 row)
{
	const struct pov_preload_setup *known = __atomic_load_n(&setup, __ATOMIC_RELAXED);

	return known && __atomic_load_n(&known->fn[row].unused, __ATOMIC_RELAXED);
}

/*
 * A call of function `row` begins; args: its argument words, at least as many as its recipe keeps, and one. True if record_end is to
 * be called.
 */
bool record_begin(u32 row, const u64 *args, struct call_mark *mark);
/* It has returned, to `site`. */
void record_end(const struct call_mark *mark, u64 ret, u64 site);

/*
 * Measures what recording adds to a call without memory reads, and counting (the area's cost_ps and counted_ps): medians of several batches,
 * whose records are taken back. The area is there, and nobody reads it yet.
 */
void record_calibrate(void);
/* Asks the dynamic loader for what is used from then on. */
void record_look_up(void);
/* The setup is there. */
void record_setup(void);

#endif
