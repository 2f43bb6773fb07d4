/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The time in which a process uses MPI, its window: from the end of MPI_Init to the begin of
 * MPI_Finalize. With sessions it runs from the end of the first call that begins MPI to the begin
 * of the call that ends the last session. If the process ran before the recording began, the window
 * starts with the process. If MPI_Init was not recorded, it starts with the first recorded call.
 */
#ifndef POV_ANALYSIS_WINDOWS_H
#define POV_ANALYSIS_WINDOWS_H

#include "model/model.h"

struct window {
	enum { WINDOW_NONE, WINDOW_OPEN, WINDOW_OVER } is;
	/* from_ns 0: the begin was not seen. to_ns is valid once the window is over. */
	uint64_t from_ns, to_ns;
	/* begin of the first call or poll that was seen */
	uint64_t first_ns;
	uint32_t begun; /* begins minus ends of MPI so far */
};

struct windows {
	const struct model *model;
	struct window *process; /* by process idx; owned */
	uint32_t nprocess;
};

enum window_change {
	WINDOW_STAYS,
	WINDOW_OPENS,  /* the call began MPI */
	WINDOW_CLOSES, /* the call ended MPI */
	/*
	 * This is the process's first call. It did not run before the recording, and no call that
	 * begins MPI was seen.
	 */
	WINDOW_FOUND,
};

void windows_release(struct windows *w);
/* Call this for each outermost MPI call. */
enum window_change windows_call(struct windows *w, const struct model_call *c);
/* Call this for each run of polls that found nothing. */
enum window_change windows_spin(struct windows *w, const struct model_spin *s);
/*
 * True if the process started during the recording and called MPI, but its begin of MPI was not
 * seen.
 */
bool windows_found(const struct windows *w, const struct model_process *p);
/*
 * True if a moment lies in the window, as far as is known now. The time in MPI_Finalize counts
 * until that call has ended.
 */
bool windows_has(const struct windows *w, const struct model_process *p, uint64_t ts_ns);

#endif
