/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Records one call of the calling thread, at its two ends. */
#ifndef POV_PRELOAD_CALL_RECORD_H
#define POV_PRELOAD_CALL_RECORD_H

#include "preload/in_process.h"

struct hook;

/* A mark in the frame of hook_enter; its address identifies the call. */
struct call_mark {
	u64 canary;
};

/*
 * A call of a hooked function begins. args has its argument words, at least six. True if record_end
 * must be called.
 */
bool record_begin(const struct hook *hook, const u64 *args, struct call_mark *mark);
/* The call has returned, to `site`. */
void record_end(const struct call_mark *mark, u64 ret, u64 site);

/*
 * Measures the costs of recording a call without memory reads, and of counting one (the area's
 * cost_ps and counted_ps): medians of several batches, whose records are removed. Call it while
 * nobody reads the area yet.
 */
void record_calibrate(void);
/*
 * Call this at the begin of the process. vdso is the address of the kernel's vDSO, or 0; stack_top
 * an address at the upper end of the first thread's stack.
 */
void record_begins(u64 vdso, u64 stack_top);
/* Call this when the setup is mapped. */
void record_setup(void);
/*
 * The former thread of this area is gone: ends what it left open, and writes what it had gathered.
 */
void record_thread_gone(void);

#endif
