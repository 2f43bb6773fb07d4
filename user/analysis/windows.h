/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * When processes use MPI: from the end of MPI_Init to the begin of MPI_Finalize; with sessions, from the end of the first call that
 * begins MPI to the begin of the one that ends the last. A process that ran before the recording began has done so since
 * its start; one whose first call is another one (MPI_Init was not recorded), since that.
 */
#ifndef POV_ANALYSIS_WINDOWS_H
#define POV_ANALYSIS_WINDOWS_H

#include "model/model.h"

struct window {
	enum { WINDOW_NONE, WINDOW_OPEN, WINDOW_OVER } is;
	uint64_t from_ns, to_ns; /* from: 0: the begin was not seen; to: once it is over */
	uint64_t first_ns;	 /* begin of the first call or poll that was seen */
	uint32_t begun;		 /* more often than ended */
};

struct windows {
	const struct model *model;
	struct window *process; /* by idx; owned */
	uint32_t nprocess;
};

enum window_change {
	WINDOW_STAYS,
	WINDOW_OPENS,  /* the call began MPI */
	WINDOW_CLOSES, /* it ended it */
	WINDOW_FOUND, /* it is the first of a process that was not seen to begin MPI, nor ran before the recording */
};

void windows_release(struct windows *w);
/* To be told each outermost call of MPI, … */
enum window_change windows_call(struct windows *w, const struct model_call *c);
/* … and its polls that found nothing. */
enum window_change windows_spin(struct windows *w, const struct model_spin *s);
/* Whether it began within the recording and was not seen to begin MPI, but to call it. */
bool windows_found(const struct windows *w, const struct model_process *p);
/* Whether a moment lies in it, by what is known: until MPI_Finalize has ended, its time does. */
bool windows_has(const struct windows *w, const struct model_process *p, uint64_t ts_ns);

#endif
