/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The settings of a recording's ranks, and advice phrased for its MPI library and launcher. A
 * recording has one of each, except in rare cases.
 */
#ifndef POV_FINDING_SETTING_H
#define POV_FINDING_SETTING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct trace;

/* True if it has an MPI library of that flavour: "openmpi", "mpich". */
bool setting_has_library(const struct trace *t, const char *flavour);

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
/* The first n pairs as launcher options, where the launcher has such. The caller frees it. */
char *setting_pairs(const struct trace *t, const struct setting_pair *pair, uint32_t n);

#endif
