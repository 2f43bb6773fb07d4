/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The time of a section of the program from two points of view, after A. Nigay, L. Mosimann, T.
 * Schneider, T. Hoefler: Communication and Timing Issues with MPI Virtualization (EuroMPI 2020). A
 * rank's clock (section 3.1) ticks only while the rank runs. A core's clock (section 3.4) ticks
 * while any rank that is in the section runs on the core. The wall-clock time, as MPI_Wtime shows
 * it, is reported as well. Only threads in the section count. Times are summed over stretches in
 * one state on one CPU, so it does not matter how often a thread moved.
 */
#ifndef POV_ANALYSIS_PROGRAM_SECTION_H
#define POV_ANALYSIS_PROGRAM_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/cores.h"
#include "model/model.h"

/* Sums of one process. */
struct section_row {
	uint64_t entered; /* number of entries, over all threads */
	/* part of entered: not left before the thread or the recording ended */
	uint64_t open;
	/* wall-clock time, over all threads; the sum of split */
	uint64_t wall_ns;
	struct state_times split; /* THREAD_RUNNING is the rank's point of view */
	/*
	 * running time of its threads outside the section while another of its threads was inside
	 */
	uint64_t other_threads_ns;
};

/*
 * Sums of one process on one CPU, while a thread in the section was there: it ran, waited to run,
 * or had run there last.
 */
struct section_core_row {
	uint64_t here_ns;    /* sum of the members below */
	uint64_t running_ns; /* the thread itself ran */
	uint64_t own_ns;     /* other threads of its process ran */
	uint64_t ranks_ns;   /* other ranks ran */
	uint64_t other_ns;   /* tasks that are no rank ran */
	uint64_t idle_ns;
	uint64_t unknown_ns;
};

struct section_cores {
	struct section_core_row *row; /* by CPU; owned */
	uint32_t n;
};

struct section_thread;
struct section_process;

struct program_section {
	struct model_sink sink;
	const struct section *section; /* the caller's */
	const struct model *model;
	/* Times of the two edges, from and to. UINT64_MAX: the edge is no time, or has passed. */
	uint64_t edge_ns[2];
	bool reached[2];
	struct section_row *row; /* by idx of processes; owned */
	uint32_t nrow;
	struct section_cores *cores; /* by idx of processes; owned */
	uint32_t ncores;
	struct section_thread *thread; /* by thread idx; owned */
	uint32_t nthread;
	struct section_process *process; /* by process idx; owned */
	uint32_t nprocess;
	struct core_totals totals;
};

/* Without section->text, no callbacks are installed. */
void program_section_init(struct program_section *a, const struct section *section);
void program_section_release(struct program_section *a);
/* Row of a process; zeros if it was never in the section. */
const struct section_row *program_section_row(const struct program_section *a,
					      uint32_t process_idx);
const struct section_core_row *program_section_core(const struct program_section *a,
						    uint32_t process_idx, uint32_t cpu);
/* number of CPUs that have rows */
uint32_t program_section_cpus(const struct program_section *a);

/*
 * A section of the program, as a user names it:
 *	solve				a phase that the program marks (MPI_Pcontrol), or a region
 *					(record --region), of that name
 *	MPI_Barrier#2..MPI_Barrier#3	from the return of a thread's second call to the return
 *					of its third one
 *	1.5..10m			from 1.5 s after the recording began to 10 minutes
 * Each end of a span is a call or a time, or is missing: MPI_Init.. is everything after the first
 * MPI_Init.
 */

#define SECTION_FUNC_BYTES 128

enum section_edge_kind {
	EDGE_NONE, /* begin or end of the thread's life */
	EDGE_TIME,
	EDGE_CALL,
};

struct section_edge {
	enum section_edge_kind kind;
	uint64_t at_ns; /* EDGE_TIME: since the start of the recording */
	char func[SECTION_FUNC_BYTES];
	/* EDGE_CALL: number of the thread's call of func, from 1 */
	uint64_t number;
};

struct section {
	/* text as given, the caller's; NULL: no section */
	const char *text;
	/* the text names a phase or region; else it is a span */
	bool is_name;
	struct section_edge from, to;
};

/* Returns 0, or -EINVAL after printing the error. */
int section_parse(const char *text, struct section *out);

#endif
