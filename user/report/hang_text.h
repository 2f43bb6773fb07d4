/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Describes where ranks were when the recording ended: groups of ranks in the same state, and
 * sentences about the ranks that they wait for.
 */
#ifndef POV_REPORT_HANG_TEXT_H
#define POV_REPORT_HANG_TEXT_H

#include "analysis/hang.h"
#include "lib/text.h"
#include "report/report.h"

/* Threads of ranks in the same state. */
struct hang_group {
	uint32_t *thread; /* indices of hang.thread, in order of rank; owned */
	uint32_t nthreads;
	const char *in; /* "MPI_Recv", "polls of MPI_Test", "outside MPI" */
	/*
	 * Call site of the call or poll in `in`. Outside MPI: location of the thread's last
	 * instruction or last call. "": unknown.
	 */
	const char *place;
	/* "a message from rank 1, tag 7, MPI_COMM_WORLD", "last call: MPI_Send" */
	const char *what;
	const char *activity;	    /* "on a core", "asleep" */
	uint64_t least_ns, most_ns; /* shortest and longest time in this state */
	bool at_least;		    /* some thread entered the state before the recording began */
};

struct hang_sentence {
	const char *kind;
	bool certain; /* a fault for certain, whatever the recording may lack */
	const char *text;
};

struct hang_text {
	const struct report *r;
	struct text_pool pool;	  /* all texts of groups and sentences */
	struct hang_group *group; /* owned */
	uint32_t ngroups;
	struct hang_sentence *sentence; /* owned */
	uint32_t nsentences;
};

/* Groups contain the ranks that the report shows; sentences cover all ranks. */
void hang_text_make(const struct report *r, struct hang_text *out);
void hang_text_release(struct hang_text *x);
/*
 * True if the first screen must show the open calls: one cannot return at all, or the longest took
 * at least 100 ms and a quarter of the recording.
 */
bool hang_text_matters(const struct report *r);

/* Table of the groups. *shown: number of rows; fewer than all if there are many. Caller frees. */
struct columns *table_hang(struct hang_text *x, uint32_t *shown);

/* ---- hang_text.c: parts of sentences, in the pool of x ---- */

#define PHRASE(x, ...) text_pool_format(&(x)->pool, __VA_ARGS__)

const char *hang_want_text(struct hang_text *x, const struct hang_thread *t,
			   const struct hang_want *w);
/* "communicator 3 of 4 ranks", "a window of MPI_COMM_WORLD" */
const char *hang_comm_text(struct hang_text *x, const struct hang_want *w);
/* " at solve (app.c:41)"; "": unknown */
const char *hang_at_text(struct hang_text *x, const struct model_site *site);
/* "0-2, 5". The processes must be in order. */
const char *hang_ranks_text(struct hang_text *x, const struct model_process *const *p, uint32_t n);
/* "rank 3", "ranks 0-2, 5" */
const char *hang_of_ranks_text(struct hang_text *x, const struct model_process *const *p,
			       uint32_t n);
const char *hang_rank_text(struct hang_text *x, const struct model_process *p);
/* "it is outside MPI …", "it has ended" */
const char *hang_where_text(struct hang_text *x, const struct model_process *p);
const char *hang_activity(const struct hang_thread *t);
uint64_t hang_since_ns(const struct report *r, const struct hang_thread *t);

/* ---- hang_sentences.c ---- */

void hang_sentences_make(struct hang_text *x);

#endif
