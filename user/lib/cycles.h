/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The counter of cycles that the kernel's clock is made of, where a program may read it (x86-64: the time stamp counter). Not ordered
 * against the loads and stores around it, so that a reading may be some tens of ns off, and costs half as much as one that is.
 */
#ifndef POV_LIB_CYCLES_H
#define POV_LIB_CYCLES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

/* Rates and times by them: ns a cycle, with so many bits behind the point. */
#define CYCLES_RATE_BITS 32

#ifdef __x86_64__

static inline uint64_t cycles_read(void)
{
	return __builtin_ia32_rdtsc();
}

/* Whether this process may (PR_SET_TSC). */
static inline bool cycles_readable(void)
{
	int how;

	return !prctl(PR_GET_TSC, &how) && how == PR_TSC_ENABLE;
}

/* By the name of the kernel's clock source: it is this counter, which runs alike on all CPUs then. */
static inline bool cycles_are(const char *clocksource)
{
	return !strcmp(clocksource, "tsc");
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
	(void)clocksource;
	return false;
}

#endif

#endif
