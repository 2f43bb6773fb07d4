/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What was set for the ranks of a recording, and settings in the words of the MPI library and the launcher that it names: one recording has
 * one of each but for rare cases.
 */
#ifndef POV_FINDING_SETTING_H
#define POV_FINDING_SETTING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct trace;

/* Whether it has an MPI library of that flavour: "openmpi", "mpich". */
bool setting_has_library(const struct trace *t, const char *flavour);

/* Environment variables of a rank, of those that were recorded; NULL: none were. Borrowed. */
const json_t *setting_environment(const struct trace *t);

/* How each rank gets n cores of its own. Caller frees. */
char *setting_cores(const struct trace *t, uint32_t n);
/* How each rank prints into a file of its own, past the launcher, in brackets; "": no setting is known. Caller frees. */
char *setting_output(const struct trace *t);
/* How waiting ranks leave their core; NULL: there is no such setting, or it is set. Caller frees. */
char *setting_yield(const struct trace *t);

/* A variable of the library and its value, which may be set together with others. */
struct setting_pair {
	const char *name; /* as in the environment, "OMPI_MCA_btl", "UCX_TLS" */
	uint64_t value;
};
/* The first n of them as options of the launcher, where it has such. Caller frees. */
char *setting_pairs(const struct trace *t, const struct setting_pair *pair, uint32_t n);

#endif
