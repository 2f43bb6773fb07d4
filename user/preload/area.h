/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The calling thread's memory for records: a slot of the process's pool (abi/preload.h). */
#ifndef POV_PRELOAD_AREA_H
#define POV_PRELOAD_AREA_H

#include "preload/in_process.h"

/* What stands in it is 0 in a child that another process has made of itself: none of its parent's memory is shared there. */
extern const u32 *area_same_process;

/* Before anything else, in the process's first thread. */
void area_begin(void);
/* The process has a pool: so many slots, one every `bytes`. */
void area_pool(void *pool, u32 cnt, u32 bytes);
u64 area_pool_address(u32 *bytes);
/* The one that the thread writes to. Not in the area: what the program may write there by mistake is not followed. */
struct ring {
	u8 *at;
	u64 bytes;
	u64 until; /* which byte of all that is written there surely is room */
};
extern __thread struct ring ring;
/* The thread's area goes on in a ring of its slot, from what is written next. False: the slot has no such ring. */
bool area_ring_begin(u32 number);
/* Sets the thread's `area`; false if it has none: its call is counted as lost, if the process is recorded. */
bool area_find(void);
/* Who the thread is. */
u32 area_thread(void);

#endif
