/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How ranks ended that did not end well: who was first, by what, and in which call. Other recorded processes that crashed are among
 * them, for a program may fail before MPI_Init. A launcher that ended ranks after one had failed is reported once for all of them.
 */
#ifndef POV_FINDING_RANK_ENDS_H
#define POV_FINDING_RANK_ENDS_H

#include "analysis/last_calls.h"
#include "model/model.h"
#include "site/sites.h"

enum rank_end_kind {
	RANK_END_ABORT,	     /* called MPI_Abort */
	RANK_END_SIGNAL,     /* was killed */
	RANK_END_STATUS,     /* exited with another status than 0 */
	RANK_END_UNFINISHED, /* exited with 0, but without MPI_Finalize */
	RANK_END_RUNNING,    /* had not ended when the recording did */
};

struct rank_end {
	enum rank_end_kind kind;
	const struct model_process *process;
	const struct model_thread *thread; /* whose calls say where; NULL: unknown */
	uint64_t at_ns;			   /* RUNNING: the recording's end */
	bool by_launcher; /* its launcher killed it, after another rank had not ended well */
	struct last_call
		call; /* that the thread was in, or the last one before; func NULL: unknown */
	bool in_call;
	struct model_site at; /* the instruction that failed; address 0: none, or unknown */
};

struct rank_ends {
	const struct model *model;
	const struct last_calls *calls; /* the caller's */
	struct sites *sites;		/* the caller's, for names of places; or NULL */
	struct rank_end *end;		/* owned; who was first comes first */
	uint32_t n;
};

/* After the replay. */
void rank_ends_make(struct rank_ends *e, const struct model *m, const struct last_calls *calls,
		    struct sites *sites);
void rank_ends_release(struct rank_ends *e);
/* "abort", "signal", "status", "unfinished", "running" */
extern const char *const rank_end_kinds[];

/* One sentence without an end mark about one of them. Caller frees. */
char *rank_end_text(const struct rank_ends *e, const struct rank_end *end);
/* "killed by SIGSEGV (signal 11)": the same in a few words. Caller frees. */
char *rank_end_short(const struct rank_end *end);
/* Where an instruction is: "solve (app.c:41)", "solve+0x1f (app)", "app+0x1f", an address. Caller frees. */
char *rank_end_place(const struct rank_ends *e, const struct model_site *at);
/*
 * One sentence about a rank, or about all that are told of together with it: those that a launcher killed by the same signal, those
 * that had not ended. NULL: an earlier one has told of this rank. Caller frees.
 */
char *rank_ends_text(const struct rank_ends *e, uint32_t i);

#endif
