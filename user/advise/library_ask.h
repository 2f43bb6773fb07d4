/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Asks an MPI library for its variables: runs two ranks of povtrace-mpi-t (advise/mpi_t_main.c)
 * with a launcher of that library and with the recorded ranks' settings.
 *
 * The trace may be anybody's. The library must be the recorded file (same build ID). Nobody but
 * root and the user may be able to replace it or the launcher (library_file.h). Only settings that
 * choose among parts of the library are passed on, and no value that could be a path. No shell is
 * used. The program runs as the user behind sudo, for at most MPI_T_SECONDS.
 */
#ifndef POV_ADVISE_LIBRARY_ASK_H
#define POV_ADVISE_LIBRARY_ASK_H

#include <jansson.h>

#include "advise/library.h"

struct library_question {
	enum library_family family;
	const char *path, *build_id; /* the library's */
	/* The recorded launcher and its build ID; "": not recorded, or no build ID. */
	const char *launcher, *launcher_id;
	const json_t *settings; /* a rank's environment variables; may be NULL */
};

/* The library's answer. */
struct library_answer {
	json_t *variable; /* name → integer or text; owned */
	/* Names of the shared objects in use, such as "mca_btl_vader"; owned. */
	json_t *components;
	char *version; /* MPI_Get_library_version; owned */
	char *pml;     /* Open MPI's PML; "" if not reported; owned */
};

/*
 * Returns NULL and sets *out, or returns the reason for failure: one sentence without a full stop.
 * Caller frees it.
 */
char *library_ask(const struct library_question *q, struct library_answer *out);
void library_answer_release(struct library_answer *a);

/* Returns whether a variable is passed on. */
bool library_ask_passes(const char *name, const char *value);
/*
 * Reads the output of povtrace-mpi-t and ignores other lines. Returns whether the output is
 * complete and comes from at least two ranks.
 */
bool library_answer_read(char *text, struct library_answer *out);

#endif
