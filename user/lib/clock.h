/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads clocks. The clock of recorded traces and of povbench is CLOCK_MONOTONIC, so their times can
 * be compared. All ranks of a node share it, and every kernel reads it without a system call
 * (CLOCK_MONOTONIC_RAW only since Linux 5.3). It may be slewed by 0.05 %, which is far below the
 * noise.
 */
#ifndef POV_LIB_CLOCK_H
#define POV_LIB_CLOCK_H

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

#endif
