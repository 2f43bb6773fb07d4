/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * libpov: clocks that run only while the caller's rank, or its core, does. Nigay et al. 2020 (section 3) gave MPI libraries
 * whose ranks are threads such clocks; here ranks are processes, the operating system suspends them, and `povtrace clock` keeps
 * the times in its kernel half. Between two switches the reader adds what has passed since: no call enters the kernel.
 *
 * Nothing needs to be initialised. If `povtrace clock` does not serve this process, the times are those of
 * CLOCK_PROCESS_CPUTIME_ID and CLOCK_THREAD_CPUTIME_ID, cores are not known, and pov_source says so. A process that was served and is no
 * longer (povtrace has ended) goes on with these; its clocks jump by what both have differed since it was first asked, and, if povtrace was
 * killed, by the two seconds in which that is not noticed.
 *
 * All may be called from any thread at any time, also before MPI_Init and after MPI_Finalize, but not from signal handlers.
 */
#ifndef POV_H
#define POV_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Rank-POV time (3.2, listing 2): seconds that the calling rank has been running, since some moment of its past. All its threads count: with two
 * of them on two cores it grows by two seconds a second. Never goes back for one thread.
 */
double MPIX_Rtime(void);

/*
 * Core-POV time (3.4, listing 3): seconds that the core the caller is on has spent in sections, of all processes of the same user and
 * MPI job. A process is in its section from MPIX_Start_processor_timer to MPIX_Stop_processor_timer, whichever thread calls them; a
 * second start within does nothing. What it is off the core does not count, nor what others do there. NaN if cores are not known.
 */
void MPIX_Start_processor_timer(void);
void MPIX_Stop_processor_timer(void);
double MPIX_Ptime(void);

/* The same in ns. UINT64_MAX: not known. */
uint64_t pov_rank_ns(void);
uint64_t pov_core_ns(void);
/* The calling thread's own running time, since some moment of its past. */
uint64_t pov_thread_ns(void);

enum pov_source {
	POV_SOURCE_CPUTIME =
		0, /* the kernel's own CPU clocks, by system calls; cores are not known */
	POV_SOURCE_POVTRACE = 1, /* the kernel half of `povtrace clock` */
};

/* By what the calling process's next times come. *why (may be NULL): why not by povtrace, in words; "" if they do. Not to be freed. */
enum pov_source pov_source(const char **why);

#ifdef __cplusplus
}
#endif

#endif
