/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The calling thread's memory for records: a slot of the process's pool (abi/preload.h). */
#ifndef POV_PRELOAD_AREA_H
#define POV_PRELOAD_AREA_H

#include "preload/in_process.h"

/*
 * Points to a word that is 0 in a child process without its own pool: a child does not share its
 * parent's memory here.
 */
extern const u32 *area_same_process;

/* Call this before anything else, in the process's first thread. */
void area_begin(void);
/* The process has got a pool with cnt slots. */
void area_pool(void *pool, u32 cnt);
/*
 * The collector reads the pool from now on. Other threads do not write to it before that: if they
 * end meanwhile, nobody would know their records.
 */
void area_pool_known(void);
/* The process has mapped the pool's page for children; NULL: it could not. */
void area_forks(struct pov_preload_forks *page);
u64 area_pool_address(u32 *cnt);
/*
 * The ring that the thread writes to. It is not in the area, so mistaken writes of the program
 * there cannot misdirect us.
 */
struct ring {
	u8 *at;
	u64 bytes;
	u64 until; /* position (in all bytes written) up to which there surely is room */
};
extern __thread struct ring ring;
/*
 * Switches the thread's area to a ring of its slot for all further records. False: the slot has no
 * such ring.
 */
bool area_ring_begin(u32 number);
/*
 * Sets the thread's `area`. False if there is none: then the call counts as lost, if the process is
 * recorded.
 */
bool area_find(void);

#endif
