/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What library.c (which library it is, and what it says) shares with library_threshold.c (its protocols). */
#ifndef POV_ADVISE_LIBRARY_INTERNAL_H
#define POV_ADVISE_LIBRARY_INTERNAL_H

#include <jansson.h>

#include "advise/library.h"
#include "advise/library_ask.h"

struct trace;

/* Asked when something is first wanted of it. */
struct library_telling {
	bool over, told;
	struct library_answer answer;
	char *why_not; /* NULL if told, or nothing was wanted yet */
};

struct library {
	const struct trace *trace;
	const json_t *meta;	   /* the object "library" of the trace, NULL: it has none of MPI */
	const json_t *environment; /* of a rank; may be NULL */
	enum library_family family;
	char *name;
	bool ask;
	struct library_telling *telling;
};

/* The kind of shared memory of Open MPI: "vader", since 5 "sm". */
const char *library_openmpi_shm(const struct library *l);

#endif
