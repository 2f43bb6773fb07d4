/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The clocks. The wall clock is CLOCK_MONOTONIC, for three reasons. All ranks of a node share it.
 * Every kernel reads it without a system call (CLOCK_MONOTONIC_RAW only since Linux 5.3). Recorded
 * traces use it, so their times and a result's can be compared. It may be slewed by 0.05 %,
 * which is far below the noise.
 */
#ifndef POVBENCH_CLOCK_H
#define POVBENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* CPU time of the calling thread. */
static inline uint64_t clock_cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
