/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reports ranks that failed or did not finish: in which order, why, and in which call. The list
 * includes other recorded processes that crashed, because a program may fail before MPI_Init. If a
 * launcher killed several ranks after one had failed, one sentence covers them all.
 */
#ifndef POV_ANALYSIS_RANK_ENDS_H
#define POV_ANALYSIS_RANK_ENDS_H

#include "analysis/windows.h"
#include "lib/map.h"
#include "model/model.h"
#include "site/site_names.h"

/*
 * The last calls of each thread: the MPI call that it never returned from, and the one before. For
 * each process also whether it began and ended MPI, and its first call of MPI_Abort.
 */

struct last_call {
	const struct func_info *func; /* NULL: there is no such call */
	uint64_t begin_ns, end_ns;
	struct model_site site;
	/*
	 * A run of polls that found nothing. func, begin_ns and site are those of the first poll.
	 */
	bool polls;
};

struct last_calls_thread {
	/* the call that had not returned when the thread or the recording ended */
	struct last_call open;
	struct last_call returned;
	uint64_t counted_ns; /* end of the last calls that were only counted */
};

struct last_calls_process {
	/* thread that called MPI_Abort first; NULL: none did */
	const struct model_thread *aborter;
	struct last_call abort;
	const struct model_thread *caller; /* thread that made the last call */
	uint64_t caller_ns;
};

struct last_calls {
	struct model_sink sink;
	struct windows windows;
	struct last_calls_thread *thread; /* by thread idx; owned */
	uint32_t nthread;
	struct last_calls_process *process; /* by process idx; owned */
	uint32_t nprocess;
	/* Records of calls are missing up to this time, for any reason. 0: none are missing. */
	uint64_t lost_ns;
	bool lost; /* records of calls were lost */
};

void last_calls_init(struct last_calls *a);
void last_calls_release(struct last_calls *a);

enum rank_end_kind {
	RANK_END_ABORT,	     /* called MPI_Abort */
	RANK_END_SIGNAL,     /* was killed */
	RANK_END_STATUS,     /* exited with a nonzero status */
	RANK_END_UNFINISHED, /* exited with status 0, but without MPI_Finalize */
	RANK_END_RUNNING,    /* still ran when the recording ended */
};

struct rank_end {
	enum rank_end_kind kind;
	const struct model_process *process;
	const struct model_thread *thread; /* thread that call belongs to; NULL: unknown */
	/* time of the MPI_Abort, the signal or the exit; RANK_END_RUNNING: end of the recording */
	uint64_t at_ns;
	bool by_launcher; /* its launcher killed it after another process had not ended well */
	/* call that the thread was in, or its last call before; func NULL: unknown */
	struct last_call call;
	bool in_call;	      /* the thread was in call */
	struct model_site at; /* instruction that faulted; address 0: none, or unknown */
};

struct rank_ends {
	const struct model *model;
	const struct last_calls *calls; /* borrowed */
	struct sites *sites;		/* for names of code locations; borrowed; or NULL */
	struct rank_end *end;		/* in order of time, RANK_END_RUNNING last; owned */
	uint32_t n;
};

/* Makes the list. Call it after the replay. */
void rank_ends_make(struct rank_ends *e, const struct model *m, const struct last_calls *calls,
		    struct sites *sites);
void rank_ends_release(struct rank_ends *e);
/* Names by enum rank_end_kind: "abort", "signal", "status", "unfinished", "running". */
extern const char *const rank_end_kinds[];

/* One sentence without full stop about one end. Caller frees. */
char *rank_end_text(const struct rank_ends *e, const struct rank_end *end);
/* A short form: "killed by SIGSEGV (signal 11)". Caller frees. */
char *rank_end_short(const struct rank_end *end);
/*
 * Location of an instruction: "solve (app.c:41)", "solve+0x1f (app)", "app+0x1f", or an address.
 * Caller frees.
 */
char *rank_end_place(const struct rank_ends *e, const struct model_site *at);
/*
 * One sentence about end i, or about its whole group. Ranks that a launcher killed with the same
 * signal form a group. So do those that still ran. NULL: the sentence of an earlier end covers this
 * one. Caller frees.
 */
char *rank_ends_text(const struct rank_ends *e, uint32_t i);

/*
 * MPI calls that returned an error to the program: which function, which error, from where, and how
 * often in each process. A call whose error handler ended the program never returned and is not
 * counted.
 */

#define FAILED_KEPT_MAX 4096 /* rows kept */

/* Failed calls of one process with the same function, error and call site. */
struct failed_row {
	const struct func_info *func;
	const char *error; /* name of the error class; NULL: unknown */
	/* error code that the first of the calls returned */
	int32_t code;
	struct model_site site;
	const struct model_process *process;
	/* number of calls, and the time when the first returned */
	uint64_t cnt, first_ns;
};

struct failed {
	struct model_sink sink;
	/* after the replay in order of function, error and site; owned */
	struct failed_row *row;
	uint32_t nrow;
	struct map by_key;
	/* failed calls, and those of them that are in no row */
	uint64_t cnt, left_out;
};

void failed_init(struct failed *a);
void failed_release(struct failed *a);
/* True if both rows differ only in their process. */
bool failed_alike(const struct failed_row *a, const struct failed_row *b);

#endif
