/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The settings of a recording's ranks, and advice phrased for its MPI library and launcher. A
 * recording has one of each, except in rare cases.
 */
#ifndef POV_ANALYSIS_ADVICE_H
#define POV_ANALYSIS_ADVICE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/windows.h"
#include "model/model.h"

struct trace;

/* Recorded environment variables of a rank; NULL: none were recorded. Borrowed. */
const json_t *setting_environment(const struct trace *t);

/* How to give each rank n cores of its own. The caller frees it. */
char *setting_cores(const struct trace *t, uint32_t n);
/*
 * How to make each rank print to its own file, bypassing the launcher, in brackets; "": no setting
 * is known. The caller frees it.
 */
char *setting_output(const struct trace *t);
/*
 * How to make waiting ranks yield their core; NULL: no such setting exists, or it is set. The
 * caller frees it.
 */
char *setting_yield(const struct trace *t);

/* A variable of the library with its value, to be set together with others. */
struct setting_pair {
	const char *name; /* name in the environment: "OMPI_MCA_btl", "UCX_TLS" */
	uint64_t value;
};
/*
 * The first n pairs as launcher options, or as environment variables if the launcher has no such
 * options. The caller frees it.
 */
char *setting_pairs(const struct trace *t, const struct setting_pair *pair, uint32_t n);

/*
 * The CPUs that each rank was given: those that its first thread was allowed to use when it began
 * to use MPI. Later changes are the program's own doing. If two ranks were given no CPU in common
 * and yet share one, they moved there themselves.
 */

struct allotted {
	struct model_sink sink;
	const struct windows *windows; /* the caller's */
	struct model_mask *process;    /* by process idx; all zeros if unknown; owned */
	uint32_t nprocess;
};

/* The sink of windows must run before this one. */
void allotted_init(struct allotted *g, const struct windows *windows);
void allotted_release(struct allotted *g);
/* True if both were given CPUs and have none in common. */
bool allotted_apart(const struct allotted *g, const struct model_process *p,
		    const struct model_process *q);
/*
 * Returns the smallest number of cores per rank over all jobs and hosts. 0: a host has fewer cores
 * than a job has ranks there.
 */
uint32_t allotted_cores_each(const struct model *m);

#endif
