/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A section of the program, as a user names it:
 *	solve				a phase that the program marks (MPI_Pcontrol), or a region (record --region), of that name
 *	MPI_Barrier#2..MPI_Barrier#3	from the return of a thread's second call to the return of its third one
 *	1.5..10m			from 1.5 s after the recording began to 10 minutes
 * Both ends of a span may be of either kind, or missing: MPI_Init.. is all that follows the first MPI_Init.
 */
#ifndef POV_ANALYSIS_SECTION_H
#define POV_ANALYSIS_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#define SECTION_FUNC_BYTES 128

enum section_edge_kind {
	EDGE_NONE, /* where the thread's life begins or ends */
	EDGE_TIME,
	EDGE_CALL,
};

struct section_edge {
	enum section_edge_kind kind;
	uint64_t at_ns; /* TIME: since the recording's start */
	char func[SECTION_FUNC_BYTES];
	uint64_t number; /* CALL: of the thread's calls of func, from 1 */
};

struct section {
	const char *text; /* as given, the caller's; NULL: none */
	bool is_name;	  /* of a phase or region; else a span */
	struct section_edge from, to;
};

/* 0, or -EINVAL (printed). */
int section_parse(const char *text, struct section *out);

#endif
