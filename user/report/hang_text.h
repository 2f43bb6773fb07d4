/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Describes where ranks were when the recording ended: groups of ranks in the same state, and
 * sentences about the ranks that they wait for.
 */
#ifndef POV_REPORT_HANG_TEXT_H
#define POV_REPORT_HANG_TEXT_H

#include "analysis/hang.h"
#include "report/report.h"

/* Threads of ranks in the same state. The group owns its texts, which are printable. */
struct hang_group {
	uint32_t *thread; /* indices of hang.thread, in order of rank; owned */
	uint32_t nthreads;
	char *in; /* "MPI_Recv", "polls of MPI_Test", "outside MPI" */
	/*
	 * location of that call or poll; outside MPI, of the thread's last instruction or its last
	 * call; "": unknown
	 */
	char *place;
	/* "a message from rank 1, tag 7, MPI_COMM_WORLD", "last call: MPI_Send" */
	char *what;
	char *activity;		    /* "on a core", "asleep" */
	uint64_t least_ns, most_ns; /* shortest and longest time in this state */
	bool at_least;		    /* some thread entered the state before the recording began */
};

struct hang_sentence {
	const char *kind;
	bool certain; /* a fault for certain, whatever the recording may lack */
	char *text;   /* owned */
};

struct hang_text {
	struct hang_group *group; /* owned */
	uint32_t ngroups;
	struct hang_sentence *sentence; /* owned */
	uint32_t nsentences;
};

/* Groups contain the ranks that the report shows; sentences cover all ranks. */
void hang_text_make(const struct report *r, struct hang_text *out);
void hang_text_release(struct hang_text *t);
/*
 * True if the first screen must show the open calls: one cannot return at all, or the longest took
 * at least 100 ms and a quarter of the recording.
 */
bool hang_text_matters(const struct report *r);

/* Table of the groups. *shown: number of rows; fewer than all if there are many. Caller frees. */
struct columns *table_hang(const struct report *r, const struct hang_text *t, uint32_t *shown);

/* ---- between the two files ---- */

/* The caller frees the text that each of these returns. */
char *hang_comm_text(const struct hang_want *w);
char *hang_want_text(const struct report *r, const struct hang_thread *t,
		     const struct hang_want *w);
char *hang_place_text(const struct report *r, const struct model_site *site);
/* "0-2, 5". The processes must be in order. */
char *hang_ranks_text(const struct report *r, const struct model_process *const *p, uint32_t n);
/* "outside MPI", or "outside recorded calls" if only some functions were recorded. */
const char *hang_outside(const struct report *r);
const char *hang_activity(const struct hang_thread *t);
uint64_t hang_since_ns(const struct report *r, const struct hang_thread *t);
void hang_sentences_make(const struct report *r, struct hang_text *out);

#endif
