/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Reads a process's page (abi/clock.h) while the kernel writes it. */
#ifndef POV_CLOCK_LIBPOV_PAGE_H
#define POV_CLOCK_LIBPOV_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "abi/clock.h"

static inline uint64_t page_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Time that all threads of the process were on a CPU, up to *now_ns, which is set. */
static inline uint64_t page_rank_ns(const struct pov_clock_process *p, uint64_t *now_ns)
{
	uint64_t ended, begun, sum, now;

	do {
		ended = __atomic_load_n(&p->ended, __ATOMIC_ACQUIRE);
		begun = __atomic_load_n(&p->begun, __ATOMIC_ACQUIRE);
		sum = __atomic_load_n(&p->sum, __ATOMIC_ACQUIRE);
		now = page_now_ns();
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (begun / POV_CLOCK_CHANGE != ended / POV_CLOCK_CHANGE ||
		 __atomic_load_n(&p->begun, __ATOMIC_RELAXED) != begun);
	*now_ns = now;
	return sum + (begun & POV_CLOCK_RUNNING) * now;
}

/*
 * True if the kernel half saw the thread get a CPU, from which it runs on: then it has subtracted
 * that moment from the time that the thread ran before, so sum is negative.
 */
static inline bool page_thread_runs(uint64_t sum)
{
	return (int64_t)sum < 0;
}

/* Time that the calling thread was on a CPU. t: its place. */
static inline uint64_t page_thread_ns(const struct pov_clock_thread *t)
{
	uint64_t sum, now;

	do {
		sum = __atomic_load_n(&t->sum, __ATOMIC_ACQUIRE);
		now = page_now_ns();
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&t->sum, __ATOMIC_RELAXED) != sum);
	return sum + (page_thread_runs(sum) ? now : 0);
}

/* The place of a thread; NULL: none. */
static inline const struct pov_clock_thread *page_place(const struct pov_clock_process *p,
							uint32_t tid)
{
	for (uint32_t i = 0; i < POV_CLOCK_PROBES; i++) {
		const struct pov_clock_thread *t = &p->thread[(tid + i) % POV_CLOCK_THREADS];

		if (__atomic_load_n(&t->tid, __ATOMIC_ACQUIRE) == tid)
			return t;
	}
	return NULL;
}

#endif
