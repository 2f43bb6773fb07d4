/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by library.c (the library's identity and variables) and library_threshold.c (its
 * protocols).
 */
#ifndef POV_ADVISE_LIBRARY_INTERNAL_H
#define POV_ADVISE_LIBRARY_INTERNAL_H

#include <jansson.h>

#include "advise/library.h"
#include "advise/library_ask.h"

struct trace;

/* The library's answer. It is asked when a variable is first needed. */
struct library_telling {
	bool over, told;
	struct library_answer answer;
	char *why_not; /* NULL if it answered, or was not asked yet */
};

struct library {
	const struct trace *trace;
	/* The trace's "library" object for MPI; NULL: there is none. */
	const json_t *meta;
	const json_t *environment; /* a rank's environment; may be NULL */
	enum library_family family;
	char *name;
	bool ask;
	struct library_telling *telling;
};

/*
 * Returns the name of Open MPI's shared-memory BTL: "vader", or "sm" since version 5; NULL: not in
 * use.
 */
const char *library_openmpi_shm(const struct library *l);

#endif
