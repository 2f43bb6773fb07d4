/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads CLOCK_MONOTONIC in less than half the usual time: from the CPU's counter, at the rate that
 * the collector keeps measuring (record/host/cycle_rate.h), since a moment at most 1 ms ago at
 * which both were read. If the kernel's clock does not use this counter, reads the kernel's clock.
 */
#ifndef POV_PRELOAD_CLOCK_H
#define POV_PRELOAD_CLOCK_H

#include "lib/cycles.h"
#include "preload/in_process.h"

/* State of a thread's clock. */
struct cycle_clock {
	u64 cycles, ns; /* when both were last read */
	u64 rate;	/* ns per cycle (fixed point, CYCLES_RATE_BITS) */
	u64 limit;	/* after this many cycles both are read again; 0: at once */
	u64 floor;	/* the smallest time that may be returned, so that time never goes back */
};
extern __thread struct cycle_clock cycle_clock;

/* vdso is the address of the kernel's vDSO (AT_SYSINFO_EHDR), which has its clock. */
void clock_begin(u64 vdso);
/* Reads both again, or the kernel's clock if there is no rate. Returns the time. */
u64 clock_renew(void);

/*
 * Returns the time in ns. Needs the setup. Not reentrant within a thread: a signal handler must not
 * interrupt it.
 */
static inline u64 clock_now(void)
{
	const struct cycle_clock *c = &cycle_clock;
	u64 past = cycles_read() - c->cycles, ns;

	if (__builtin_expect(past >= c->limit, 0))
		return clock_renew();
	ns = c->ns + (past * c->rate >> CYCLES_RATE_BITS);
	return ns > c->floor ? ns : c->floor;
}

#endif
