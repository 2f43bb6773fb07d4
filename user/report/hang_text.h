/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Where ranks were when the recording ended, in words: groups of ranks in the same state, and sentences about whom they wait for. */
#ifndef POV_REPORT_HANG_TEXT_H
#define POV_REPORT_HANG_TEXT_H

#include "analysis/hang.h"
#include "report/report.h"

/* Threads of ranks in the same state. All texts are owned and printable. */
struct hang_group {
	uint32_t *thread; /* idx of hang.thread, in order of rank; owned */
	uint32_t nthreads;
	char *in;	/* "MPI_Recv", "polls of MPI_Test", "outside MPI" */
	char *place;	/* of that call, of the polls, or of the last call; "" : unknown */
	char *what;	/* "a message from rank 1, tag 7, MPI_COMM_WORLD" */
	char *activity; /* "on a core", "asleep" */
	uint64_t least_ns, most_ns;
	bool at_least; /* some began before the recording */
};

struct hang_sentence {
	const char *kind;
	bool certain; /* it is a fault, and nothing that the recording lacks can change that */
	char *text;   /* owned */
};

struct hang_text {
	struct hang_group *group; /* owned */
	uint32_t ngroups;
	struct hang_sentence *sentence; /* owned */
	uint32_t nsentences;
};

/* Ranks of the report's choice; sentences are about all. */
void hang_text_make(const struct report *r, struct hang_text *out);
void hang_text_release(struct hang_text *t);
/* Open calls took so much of the recording, or cannot return at all, that the first screen shows them. */
bool hang_text_matters(const struct report *r);

/* Its groups, or the first of many. Caller frees. */
struct columns *table_hang(const struct report *r, const struct hang_text *t, uint32_t *shown);

/* ---- between the two files ---- */

/* Each returns text that the caller frees. */
char *hang_comm_text(const struct hang_want *w);
char *hang_want_text(const struct report *r, const struct hang_thread *t,
		     const struct hang_want *w);
char *hang_place_text(const struct report *r, const struct model_site *site);
/* "0-2, 5", of processes in order. */
char *hang_ranks_text(const struct report *r, const struct model_process *const *p, uint32_t n);
/* "outside MPI", or as much as is known of that. */
const char *hang_outside(const struct report *r);
const char *hang_activity(const struct hang_thread *t);
uint64_t hang_since_ns(const struct report *r, const struct hang_thread *t);
void hang_sentences_make(const struct report *r, struct hang_text *out);

#endif
