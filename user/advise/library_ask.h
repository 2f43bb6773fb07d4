/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Asks an MPI library for its variables: two ranks of povtrace-mpi-t (advise/mpi_t_main.c), by a launcher of that library, with the settings
 * that the recorded ranks had. What is run must be what was recorded, and nothing that others could have put there (library_file.h); of the
 * settings only those are passed on that choose among parts of the library, and no value that could be a path. Never through a shell, as
 * the user behind sudo, for at most MPI_T_SECONDS.
 */
#ifndef POV_ADVISE_LIBRARY_ASK_H
#define POV_ADVISE_LIBRARY_ASK_H

#include <jansson.h>

#include "advise/library.h"

struct library_question {
	enum library_family family;
	const char *path, *build_id;	    /* of the library */
	const char *launcher, *launcher_id; /* recorded; "" if none was, or it has no build ID */
	const json_t *settings;		    /* environment variables of a rank; may be NULL */
};

/* What it said. */
struct library_answer {
	json_t *variable;   /* name → integer or text; owned */
	json_t *components; /* names of shared objects that are in use, as "mca_btl_vader"; owned */
	char *version;	    /* MPI_Get_library_version; owned */
	char *pml;	    /* Open MPI's; "" if not told; owned */
};

/* NULL: *out is the answer. Else why not: one sentence without an end mark; caller frees. */
char *library_ask(const struct library_question *q, struct library_answer *out);
void library_answer_release(struct library_answer *a);

/* Whether a variable is passed on. */
bool library_ask_passes(const char *name, const char *value);
/* Reads lines of povtrace-mpi-t; others are left out. Whether they were all there, said by at least two ranks. */
bool library_answer_read(char *text, struct library_answer *out);

#endif
