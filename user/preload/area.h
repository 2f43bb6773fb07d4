/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What this process, and each of its threads that calls MPI, has from the collector (abi/preload.h). */
#ifndef POV_PRELOAD_AREA_H
#define POV_PRELOAD_AREA_H

#include "preload/in_process.h"

/* The MPI library's number, once a thread has an area. */
extern u16 area_library;
/* The calling thread's stack. */
extern __thread u64 area_stack_begin, area_stack_end;

static inline bool area_on_stack(u64 sp)
{
	return sp - area_stack_begin < area_stack_end - area_stack_begin;
}

/*
 * Gets an area for the calling thread, which makes its first call, of function `row`. False: it has none, as nobody records this
 * process, or for now.
 */
bool area_meet(u32 row);
/* 0: this is a child of the process that has the thread's area, which has none of it. */
extern const u32 *area_same_process;

/*
 * A library is being opened that may call MPI past this one. If nothing of the process has been recorded yet, nothing will be here:
 * it gets probes as it begins MPI. Else the collector is told that calls may be missing.
 */
void area_bypassed(void);

#endif
