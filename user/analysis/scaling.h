/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Several runs of one program beside each other, by the number of their ranks. The first one, of fewest ranks, is the reference. With U,
 * n and T of efficiency.h, and strong scaling, where every run does the same work:
 *
 *	computation scaling  ΣU(reference) / ΣU
 *	global efficiency    parallel efficiency × computation scaling
 *	speedup              T(reference) / T
 *
 * With weak scaling each rank has the same work, so that the work grows with the ranks: both quotients are multiplied by n / n(reference).
 * So speedup is n / n(reference) × global efficiency / global efficiency(reference), either way.
 */
#ifndef POV_ANALYSIS_SCALING_H
#define POV_ANALYSIS_SCALING_H

#include "analysis/efficiency.h"
#include "trace/trace_join.h"

/* Why nothing is known of a run. */
enum scaling_unknown {
	SCALING_KNOWN,
	SCALING_NO_MPI,	   /* no process called MPI */
	SCALING_NO_WINDOW, /* no rank was seen between MPI_Init and MPI_Finalize */
};

/* One job of one run. All strings are owned. */
struct scaling_run {
	const struct trace_source *source; /* the run's recordings, the caller's */
	size_t nsources;
	char *name; /* of its first file, without directories, and its job if there are several */
	char *program; /* file name of what rank 0 executes, or "" */
	char *command; /* command line of rank 0, or "" */
	uint32_t job;
	enum scaling_unknown unknown;
	bool sched;			     /* the scheduler was recorded */
	bool distorted;			     /* by what tracing cost */
	uint32_t lost;			     /* what is missing of it: bits of analysis/loss.h */
	uint32_t order;			     /* in which it was given */
	struct efficiency e;		     /* zeros if nothing is known */
	double computation, global, speedup; /* NAN: unknown */
};

struct scaling {
	struct scaling_run
		*run; /* owned; after scaling_make by ranks, those of which nothing is known last */
	uint32_t n, nknown;
	bool weak;
};

/* Adds an empty run. */
struct scaling_run *scaling_add(struct scaling *s);
/* Puts all in order, and relates them to the first. */
void scaling_make(struct scaling *s);
void scaling_release(struct scaling *s);
/* Whether all of which something is known are runs of one program, by its file's name. */
bool scaling_same_program(const struct scaling *s);
/* What is missing of what relates a run to the first one. */
uint32_t scaling_lost(const struct scaling *s, const struct scaling_run *run);

#endif
