/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Compares several runs of one program by their number of ranks. The first run, with the fewest
 * ranks, is the reference. With U, n and T of efficiency.h, and strong scaling, where every run
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
#ifndef POV_ANALYSIS_SCALING_H
#define POV_ANALYSIS_SCALING_H

#include "analysis/efficiency.h"
#include "trace/trace_join.h"

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
