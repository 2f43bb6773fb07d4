/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * CLOCK_MONOTONIC for less than half of what reading it takes: the CPU's counter, at the rate that the collector measures all along
 * (record/host/cycle_rate.h), from a moment at most a millisecond ago at which both were read. Where the kernel's clock is not made of that
 * counter, the kernel's.
 */
#ifndef POV_PRELOAD_CLOCK_H
#define POV_PRELOAD_CLOCK_H

#include "lib/cycles.h"
#include "preload/in_process.h"

/* A thread's. */
struct cycle_clock {
	u64 cycles, ns; /* the moment at which both were read */
	u64 rate;	/* ns a cycle (CYCLES_RATE_BITS) */
	u64 limit;	/* so many cycles later both are read again; 0: at once */
	u64 floor;	/* no time before this one is told: it never runs back */
};
extern __thread struct cycle_clock cycle_clock;

/* Where the kernel's own file lies in the process (AT_SYSINFO_EHDR), which has its clock. */
void clock_begin(u64 vdso);
/* Reads both again, or the kernel's clock where there is no rate: the time. */
u64 clock_renew(void);

/* ns. Needs the setup; one at a time in a thread (a signal handler's must not come in between). */
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
