/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * libpov: clocks that run only while the caller's rank, or its core, is running. Nigay et al. 2020
 * (section 3) gave such clocks to MPI libraries whose ranks are threads. Here ranks are processes,
 * the operating system suspends them, and `povtrace clock` counts their times in its kernel half.
 * Between two switches the reader adds the time that has passed since: no call enters the kernel.
 * Nothing needs to be initialised. If `povtrace clock` does not serve this process, the times are
 * those of CLOCK_PROCESS_CPUTIME_ID and CLOCK_THREAD_CPUTIME_ID, cores are unknown, and pov_source
 * reports it. A process whose server has ended goes on with these clocks. They then jump by the
 * difference that both kinds have accumulated since the first call. If povtrace was killed, they
 * also jump by the two seconds until this is noticed.
 * All functions may be called from any thread at any time, even before MPI_Init and after
 * MPI_Finalize, but not from signal handlers.
 */
#ifndef POV_H
#define POV_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Rank-POV time (3.2, listing 2): seconds that the calling rank has been running, counted from some
 * moment in its past. All its threads count: with two threads on two cores it grows by two seconds
 * per second. Never goes back for one thread.
 */
double MPIX_Rtime(void);

/*
 * Core-POV time (3.4, listing 3): seconds that the caller's core has spent in sections of all
 * processes of the same user and MPI job. A process is in its section from
 * MPIX_Start_processor_timer to MPIX_Stop_processor_timer, whichever thread calls them; a second
 * start inside does nothing. Time off the core does not count, nor the time of other work on it.
 * NaN if cores are unknown.
 */
void MPIX_Start_processor_timer(void);
void MPIX_Stop_processor_timer(void);
double MPIX_Ptime(void);

/* The same in ns. UINT64_MAX: unknown. */
uint64_t pov_rank_ns(void);
uint64_t pov_core_ns(void);
/* Running time of the calling thread, counted from some moment in its past. */
uint64_t pov_thread_ns(void);

enum pov_source {
	/* the kernel's own CPU clocks, by system calls; cores are unknown */
	POV_SOURCE_CPUTIME = 0,
	POV_SOURCE_POVTRACE = 1, /* the kernel half of `povtrace clock` */
};

/*
 * Source of the calling process's next times. *why (may be NULL): why it is not povtrace, as text;
 * "" if it is. Must not be freed.
 */
enum pov_source pov_source(const char **why);

#ifdef __cplusplus
}
#endif

#endif
