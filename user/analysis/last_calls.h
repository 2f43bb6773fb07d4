/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What each thread called last: the MPI call that it never returned from, and the one before. And of each process, whether it began
 * and ended MPI, and its first call of MPI_Abort.
 */
#ifndef POV_ANALYSIS_LAST_CALLS_H
#define POV_ANALYSIS_LAST_CALLS_H

#include "analysis/windows.h"
#include "model/model.h"

struct last_call {
	const struct func_info *func; /* NULL: there is none */
	uint64_t begin_ns, end_ns;
	struct model_site site;
	bool polls; /* a run of polls that found nothing: func, begin_ns and site are the first one's */
};

struct last_calls_thread {
	struct last_call open; /* had not returned when the thread or the recording ended */
	struct last_call returned;
	uint64_t counted_ns; /* calls that were only counted had ended by then */
};

struct last_calls_process {
	const struct model_thread *aborter; /* that called MPI_Abort first; NULL: none did */
	struct last_call abort;
	const struct model_thread *caller; /* that made the last call */
	uint64_t caller_ns;
};

struct last_calls {
	struct model_sink sink;
	struct windows windows;
	struct last_calls_thread *thread; /* by idx; owned */
	uint32_t nthread;
	struct last_calls_process *process; /* by idx; owned */
	uint32_t nprocess;
	uint64_t lost_ns; /* records of calls are missing until then, for whatever reason; 0: none are */
	bool lost;	  /* some were lost */
};

void last_calls_init(struct last_calls *a);
void last_calls_release(struct last_calls *a);
/* NULL: it made none. */
const struct last_calls_thread *last_calls_of(const struct last_calls *a,
					      const struct model_thread *t);
const struct last_calls_process *last_calls_of_process(const struct last_calls *a,
						       const struct model_process *p);
/* It was seen to begin MPI, and did not end it: no record of that can have been lost. */
bool last_calls_unfinished(const struct last_calls *a, const struct model_process *p);
/* It ended MPI. */
bool last_calls_finished(const struct last_calls *a, const struct model_process *p);

#endif
