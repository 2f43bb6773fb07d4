/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The cycle counter on which the kernel's clock is based, where a program may read it (x86-64: the
 * time stamp counter). Reads are not ordered against the loads and stores around them. So a reading
 * may be off by some tens of ns, at half the cost of an ordered one.
 */
#ifndef POV_LIB_CYCLES_H
#define POV_LIB_CYCLES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

/* Fraction bits of rates (ns per cycle) and of times computed from them, in fixed point. */
#define CYCLES_RATE_BITS 32

#ifdef __x86_64__

static inline uint64_t cycles_read(void)
{
	return __builtin_ia32_rdtsc();
}

/* True if this process may read the counter (PR_SET_TSC). */
static inline bool cycles_readable(void)
{
	int how;

	return !prctl(PR_GET_TSC, &how) && how == PR_TSC_ENABLE;
}

/*
 * True if the kernel's clock source, by its name, is this counter; it then runs alike on all CPUs.
 */
static inline bool cycles_are(const char *clocksource)
{
	return !strcmp(clocksource, "tsc");
}

/*
 * True if the clock source is a hypervisor's clock. While the counter runs alike on all CPUs, that
 * clock is the counter times a factor; otherwise each reading is a system call.
 */
static inline bool cycles_may_be(const char *clocksource)
{
	return !strcmp(clocksource, "kvm-clock") ||
	       !strcmp(clocksource, "hyperv_clocksource_tsc_page");
}

#else /* elsewhere the C library's clock is used alone */

static inline uint64_t cycles_read(void)
{
	return 0;
}

static inline bool cycles_readable(void)
{
	return false;
}

static inline bool cycles_are(const char *clocksource)
{
	return false;
}

static inline bool cycles_may_be(const char *clocksource)
{
	return false;
}

#endif

#endif
