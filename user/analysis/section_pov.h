/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The time of a section of the program from two points of view, after A. Nigay, L. Mosimann, T. Schneider, T. Hoefler: Communication
 * and Timing Issues with MPI Virtualization (EuroMPI 2020):
 * of a rank (section 3.1), a clock that ticks only while the rank runs; of a core (section 3.4), one that ticks while any rank that is in
 * the section runs on it. Beside them what MPI_Wtime would say. Time is that of the threads that are in the section; sums over
 * stretches in one state on one CPU, so that it does not matter how often a thread moved.
 */
#ifndef POV_ANALYSIS_SECTION_POV_H
#define POV_ANALYSIS_SECTION_POV_H

#include "analysis/core_totals.h"
#include "analysis/section.h"
#include "model/model.h"

/* Of a process; sums. */
struct section_row {
	uint64_t entered;	   /* how often, over threads */
	uint64_t open;		   /* of these, not left before the thread or the recording ended */
	uint64_t wall_ns;	   /* what a clock says, over threads; = Σ split */
	struct state_times split;  /* running: the rank's point of view */
	uint64_t other_threads_ns; /* its threads that were not in it ran, while some thread was */
};

/* Of a process and a CPU: while a thread in the section was there, that is ran, waited to run, or had run last. Sums. */
struct section_core_row {
	uint64_t here_ns;    /* = Σ of the rest */
	uint64_t running_ns; /* it ran itself */
	uint64_t own_ns;     /* other threads of its process */
	uint64_t ranks_ns;   /* other ranks */
	uint64_t other_ns;   /* tasks that are no rank */
	uint64_t idle_ns;
	uint64_t unknown_ns;
};

struct section_cores {
	struct section_core_row *row; /* by CPU; owned */
	uint32_t n;
};

struct section_thread;
struct section_process;

struct section_pov {
	struct model_sink sink;
	const struct section *section; /* the caller's */
	const struct model *model;
	uint64_t edge_ns[2]; /* times that are edges, from and to; UINT64_MAX: none, or passed */
	bool reached[2];
	struct section_row *row; /* by process index; owned */
	uint32_t nrow;
	struct section_cores *cores; /* by process index; owned */
	uint32_t ncores;
	struct section_thread *thread; /* by index; owned */
	uint32_t nthread;
	struct section_process *process; /* by index; owned */
	uint32_t nprocess;
	struct core_totals totals;
};

/* section->text NULL: never told of anything. */
void section_pov_init(struct section_pov *a, const struct section *section);
void section_pov_release(struct section_pov *a);
/* A process's; zeros if it was never in it. */
const struct section_row *section_pov_row(const struct section_pov *a, uint32_t process_idx);
const struct section_core_row *section_pov_core(const struct section_pov *a, uint32_t process_idx,
						uint32_t cpu);
uint32_t section_pov_cpus(const struct section_pov *a); /* CPUs above have no rows */

#endif
