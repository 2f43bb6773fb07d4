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
/* Of the thread's area: begins a ring, from what is written next. False: it has no such ring. */
bool area_ring_begin(struct pov_preload_area *a, u32 ring);
/* Sets the thread's `area`; false if it has none: its call is counted as lost, if the process is recorded. */
bool area_find(void);
/* Who the thread is. */
u32 area_thread(void);

#endif
