/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The account: where each nanosecond of a rank's main thread went between MPI_Init and
 * MPI_Finalize. It splits the times of app_time.h by the waits that causes.h found, and measures
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
#include "trace/trace_join.h"

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
	/* the main thread's time by class; the classes add up to the job's span */
	struct account_row row;
};

/*
 * Efficiencies of a job as the POP project defines them, from the account. U is a rank's time
 * outside MPI, T is the job's span:
 *
 *	parallel efficiency  avg(U) / T = load balance × communication efficiency
 *	load balance         avg(U) / max(U)
 *	communication        max(U) / T = serialisation × transfer
 *	serialisation        max(U) / T_ideal
 *	transfer             T_ideal / T
 *
 * T_ideal is the longest path of time outside MPI through messages and collectives (whatif.h). U
 * also includes time without a core. had_core is the part of ΣU that was computing, so parallel
 * efficiency × had_core is the part of all ranks' time that was computing.
 */

/* Why serialisation and transfer are unknown. */
enum efficiency_unknown {
	EFFICIENCY_KNOWN,
	EFFICIENCY_NOTHING_OUTSIDE, /* no rank was ever outside MPI */
	/* the replay has no room for that many calls and messages */
	EFFICIENCY_TOO_LONG,
	/* a small part of the program: only the largest parts are replayed (parts.h) */
	EFFICIENCY_NOT_REPLAYED,
};

struct efficiency {
	uint64_t ranks, span_ns; /* n and T */
	uint64_t outside_ns;	 /* ΣU */
	/* NAN: no time outside MPI */
	double parallel, load_balance, communication;
	double had_core;		/* NAN: unknown */
	double serialisation, transfer; /* NAN: unknown */
	enum efficiency_unknown unknown;
	/*
	 * Some messages or collectives are missing from the path, which may be longer. Then
	 * serialisation is an upper bound and transfer a lower bound.
	 */
	bool partial;
};

struct account_job {
	/* the job's ranks: index of the first in account.rank, and their number */
	uint32_t first, n;
	uint64_t from_ns, to_ns; /* the span */
	struct account_row sum;
	struct efficiency e; /* zeros before account_efficiencies */
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
struct account_row account_thread(const struct app_thread *t, const struct causes_waiting *waiting,
				  bool sched);

struct whatif;
struct whatif_part;

/*
 * Finds the jobs' efficiencies. w may be NULL or out of room: then serialisation and transfer stay
 * unknown. partial: messages are not matched, or records are missing.
 */
void account_efficiencies(struct account *a, const struct app_time *app, const struct model *m,
			  struct whatif *w, bool partial);

/* The sums that the factors are computed from. */
struct efficiency_sums {
	/* n, T, ΣU, and the part of ΣU on a core */
	uint64_t ranks, span_ns, outside_ns, computing_ns;
	uint64_t most_ns; /* max(U) */
	bool sched;
};
void efficiency_rank_add(struct efficiency_sums *s, const struct account_row *row);
/*
 * Computes efficiencies from sums. part: for each thread, by index, the stretches that count
 * in the longest path (whatif_longest_ns).
 */
struct efficiency efficiency_of(const struct efficiency_sums *s, struct whatif *w,
				const struct whatif_part *part, bool partial);

/*
 * Compares several runs of one program by their number of ranks. The first run, with the fewest
 * ranks, is the reference. With U, n and T of account.h, and strong scaling, where every run
 * does the same work:
 *
 *	computation scaling  ΣU(reference) / ΣU
 *	global efficiency    parallel efficiency × computation scaling
 *	speedup              T(reference) / T
 *
 * With weak scaling, each rank has the same work, so the work grows with the ranks: both quotients
 * are multiplied by n / n(reference). Either way, speedup is n / n(reference) × global efficiency /
 * global efficiency(reference).
 */

/* Why a run has no figures. */
enum scaling_unknown {
	SCALING_KNOWN,
	SCALING_NO_MPI,	   /* no process called MPI */
	SCALING_NO_WINDOW, /* no rank was seen between MPI_Init and MPI_Finalize */
};

/* One job of one run. All strings are owned. */
struct scaling_run {
	const struct trace_source *source; /* recordings of the run; the caller's */
	size_t nsources;
	/* Name of its first file without directories, with the job if there are several. */
	char *name;
	char *program; /* file name of rank 0's executable, or "" */
	char *command; /* command line of rank 0, or "" */
	uint32_t job;
	enum scaling_unknown unknown;
	bool sched;			     /* the scheduler was recorded */
	bool distorted;			     /* tracing distorted the run */
	uint32_t lost;			     /* missing records: bits of analysis/loss.h */
	uint32_t order;			     /* position in which the run was given */
	struct efficiency e;		     /* zeros if the run has no figures */
	double computation, global, speedup; /* NAN: unknown */
};

struct scaling {
	/* After scaling_make in order of ranks, runs without figures last. Owned. */
	struct scaling_run *run;
	uint32_t n, nknown;
	bool weak;
};

/* Adds an empty run. */
struct scaling_run *scaling_add(struct scaling *s);
/* Sorts the runs and relates each one to the first. */
void scaling_make(struct scaling *s);
void scaling_release(struct scaling *s);
/* True if all runs with figures are of one program, by the name of its file. */
bool scaling_same_program(const struct scaling *s);
/*
 * Missing records that affect the comparison of a run with the first one: bits of analysis/loss.h.
 */
uint32_t scaling_lost(const struct scaling *s, const struct scaling_run *run);

#endif
