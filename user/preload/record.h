/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Records one call of the calling thread, from its shim's two ends. */
#ifndef POV_PRELOAD_RECORD_H
#define POV_PRELOAD_RECORD_H

#include "preload/in_process.h"

struct hook;

/* In the frame of hook_enter: a call is known by where that is. */
struct call_mark {
	u64 canary;
};
#define MARK_CALLER 32 /* the call's return address is so many bytes after its mark (enter.S) */

/* A call of a hooked function begins; args: its argument words, and six at least. True if record_end is to be called. */
bool record_begin(const struct hook *hook, const u64 *args, struct call_mark *mark);
/* It has returned, to `site`. */
void record_end(const struct call_mark *mark, u64 ret, u64 site);

/*
 * Measures what recording adds to a call without memory reads, and counting (the area's cost_ps and counted_ps): medians of several batches,
 * whose records are taken back. Nobody reads the area yet.
 */
void record_calibrate(void);
/* The process begins. vdso: where the kernel's own file lies, or 0. */
void record_begins(u64 vdso);
/* The setup is there. */
void record_setup(void);
/* The thread that had this one's area before is gone: ends what it has left open, and tells what it has gathered. */
void record_thread_gone(void);

#endif
