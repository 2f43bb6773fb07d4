/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The last calls of each thread: the MPI call that it never returned from, and the one before. For
 * each process also whether it began and ended MPI, and its first call of MPI_Abort.
 */
#ifndef POV_ANALYSIS_LAST_CALLS_H
#define POV_ANALYSIS_LAST_CALLS_H

#include "analysis/windows.h"
#include "model/model.h"

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
	struct last_calls_thread *thread; /* by idx; owned */
	uint32_t nthread;
	struct last_calls_process *process; /* by idx; owned */
	uint32_t nprocess;
	/* Records of calls are missing up to this time, for any reason. 0: none are missing. */
	uint64_t lost_ns;
	bool lost; /* records of calls were lost */
};

void last_calls_init(struct last_calls *a);
void last_calls_release(struct last_calls *a);
/* NULL: the thread made no calls. */
const struct last_calls_thread *last_calls_of(const struct last_calls *a,
					      const struct model_thread *t);
const struct last_calls_process *last_calls_of_process(const struct last_calls *a,
						       const struct model_process *p);
/*
 * True if the process was seen to begin MPI and did not end it, and no record of the end can be
 * lost.
 */
bool last_calls_unfinished(const struct last_calls *a, const struct model_process *p);
/* True if the process ended MPI. */
bool last_calls_finished(const struct last_calls *a, const struct model_process *p);

#endif
