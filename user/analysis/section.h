/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A section of the program, as a user names it:
 *	solve				a phase that the program marks (MPI_Pcontrol), or a region
 *					(record --region), of that name
 *	MPI_Barrier#2..MPI_Barrier#3	from the return of a thread's second call to the return
 *					of its third one
 *	1.5..10m			from 1.5 s after the recording began to 10 minutes
 * Each end of a span may be of either kind, or missing: MPI_Init.. is everything after the first
 * MPI_Init.
 */
#ifndef POV_ANALYSIS_SECTION_H
#define POV_ANALYSIS_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#define SECTION_FUNC_BYTES 128

enum section_edge_kind {
	EDGE_NONE, /* begin or end of the thread's life */
	EDGE_TIME,
	EDGE_CALL,
};

struct section_edge {
	enum section_edge_kind kind;
	uint64_t at_ns; /* EDGE_TIME: since the start of the recording */
	char func[SECTION_FUNC_BYTES];
	/* EDGE_CALL: number of the thread's call of func, from 1 */
	uint64_t number;
};

struct section {
	/* text as given, the caller's; NULL: no section */
	const char *text;
	/* the text names a phase or region; else it is a span */
	bool is_name;
	struct section_edge from, to;
};

/* Returns 0, or -EINVAL after printing the error. */
int section_parse(const char *text, struct section *out);

#endif
