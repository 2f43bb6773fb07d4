/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The account: where each nanosecond of a rank's main thread went between MPI_Init and
 * MPI_Finalize. It splits the times of app_time.h by what causes.h knows of waits, and measures
 * nothing itself. Each nanosecond has one class; the classes add up to the total time.
 *
 * All ranks of a job share one span, from the first end of MPI_Init to the last begin of
 * MPI_Finalize. ACCOUNT_APART is the part of the span in which a rank was still in MPI_Init,
 * already in MPI_Finalize, or dead.
 */
#ifndef POV_ANALYSIS_ACCOUNT_H
#define POV_ANALYSIS_ACCOUNT_H

#include "analysis/app_time.h"
#include "analysis/causes.h"

enum account_class {
	ACCOUNT_COMPUTING,   /* outside MPI, on a core */
	ACCOUNT_OUTSIDE,     /* outside MPI; the scheduler was not recorded */
	ACCOUNT_NO_CORE,     /* outside MPI, runnable */
	ACCOUNT_ASLEEP,	     /* outside MPI, blocked */
	ACCOUNT_MPI_WORK,    /* in MPI, running, waiting for nothing */
	ACCOUNT_MPI_NO_CORE, /* in MPI, runnable, and no rank was late */
	ACCOUNT_WAITING,     /* in MPI, another rank was late */
	/* in a call that waits, and no rank is known to be late */
	ACCOUNT_TRANSFER,
	ACCOUNT_FILE_IO, /* in MPI_File calls */
	ACCOUNT_TRACING, /* tracing overhead */
	ACCOUNT_OPEN,	 /* in a call that had not returned at the end */
	ACCOUNT_UNKNOWN, /* records are missing */
	ACCOUNT_APART,
	ACCOUNT_CLASSES,
};

struct account_row {
	uint64_t ns[ACCOUNT_CLASSES];
};

struct account_rank {
	uint32_t process, thread; /* idx of the process and its main thread */
	/* of the main thread; its sum is the job's span */
	struct account_row row;
};

struct account_job {
	/* the job's ranks: index of the first in account.rank, and their number */
	uint32_t first, n;
	uint64_t from_ns, to_ns; /* the span */
	struct account_row sum;
};

struct account {
	/* in order of processes, without those that have no window; owned */
	struct account_rank *rank;
	uint32_t nrank;
	struct account_job *job; /* owned */
	uint32_t njob;
	struct account_row sum;
	uint64_t total_ns; /* sum of all classes of all ranks */
	bool sched;	   /* the scheduler was recorded */
};

/* Makes the account. Call after the replay. */
void account_make(struct account *a, const struct model *m, const struct app_time *app,
		  const struct causes *causes);
void account_release(struct account *a);
uint64_t account_total_ns(const struct account_row *row);
/* Time outside MPI; other tools call it useful time. */
uint64_t account_outside_ns(const struct account_row *row);
/* Looks up a process's rank. NULL: it is not in the account. */
const struct account_rank *account_of(const struct account *a, uint32_t process);
/* Looks up the job of a process's rank. NULL: it is not in the account. */
const struct account_job *account_job_of(const struct account *a, uint32_t process);
/* Looks up a process among the ranks of one job. NULL: it is not there. */
const struct account_rank *account_of_job(const struct account *a, const struct account_job *j,
					  uint32_t process);

/* The unit and the number of digits for all times of an account. */
struct account_unit {
	const char *name, *brief; /* "rank-milliseconds", "rank-ms" */
	double ns;
	int digits;
};
struct account_unit account_unit(const struct account *a);

/*
 * The account of one thread, without ACCOUNT_APART. waiting: what the thread did while other ranks
 * were late.
 */
struct account_row account_thread(const struct app_thread *t, const struct state_times *waiting,
				  bool sched);

#endif
