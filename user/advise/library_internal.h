/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by library.c (the library's identity and variables), library_threshold.c (its protocols),
 * library_ask.c (which asks it) and library_file.c (which files may be run).
 *
 * A library is asked for its variables by two ranks of povtrace-mpi-t (advise/mpi_t_main.c), with a
 * launcher of that library and with the recorded ranks' settings. The trace may be anybody's: it
 * can make povtrace run files that exist on this machine, by any name and build ID that it chooses.
 * So the library must be the recorded file (same build ID), and nobody but root and the user may be
 * able to replace it or the launcher. Only settings that choose among parts of the library are
 * passed on, and no value that could be a path. No shell is used. The program runs as the user
 * behind sudo, for at most MPI_T_SECONDS.
 */
#ifndef POV_ADVISE_LIBRARY_INTERNAL_H
#define POV_ADVISE_LIBRARY_INTERNAL_H

#include <jansson.h>
#include <sys/types.h>

#include "advise/library.h"

struct trace;

/* ---- library_ask.c ---- */

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

/* ---- library_file.c ---- */

/*
 * Returns why the user must not run a file, or NULL if it may be run. Reasons: the file does not
 * exist; it lacks that build ID ("": any); it or a directory above it belongs to somebody other
 * than root and the user, or is writable by others. Caller frees.
 */
char *library_file_distrust(const char *path, const char *build_id, uid_t user);

/* ---- library.c ---- */

/* The library's answer. It is asked when a variable is first needed. */
struct library_inquiry {
	bool asked, answered;
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
	struct library_inquiry *inquiry;
};

/*
 * Returns the name of Open MPI's shared-memory BTL: "vader", or "sm" since version 5; NULL: not in
 * use.
 */
const char *library_openmpi_shm(const struct library *l);

#endif
