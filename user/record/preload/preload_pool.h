/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The memory of one process that records its own calls: one slot for each calling thread
 * (abi/preload.h).
 */
#ifndef POV_RECORD_PRELOAD_PRELOAD_POOL_H
#define POV_RECORD_PRELOAD_PRELOAD_POOL_H

#include "abi/preload.h"
#include "record/preload/preload_area.h"

struct preload_pool {
	int fd; /* -1 once the process has it */
	char *mem;
	uint64_t address;    /* address in the process; 0: the process has not confirmed it yet */
	uint32_t slot_bytes; /* distance between slots in the process */
	bool main_gone;
	struct preload_speaker who; /* for each slot, except tid */
	bool lib[POV_LIB_NUMBERS];  /* libraries that it has hooked */
	uint32_t used;
	uint32_t owner[POV_PRELOAD_SLOTS]; /* owners as last read */
	struct thread_area slot[POV_PRELOAD_SLOTS];
};

/* Checks that a pool can be made. 0 or -errno. */
int preload_pool_try(void);
/*
 * Makes a pool whose first slot has memory. who->since_ns is now; who->lib is ignored. threads and
 * spare are borrowed (struct thread_area). 0 or -errno.
 */
int preload_pool_make(const struct preload_speaker *who, const struct map *threads, uint64_t *spare,
		      struct preload_pool **out);
void preload_pool_free(struct preload_pool *pool);
/* The process has mapped the pool, with slot_bytes between slots. */
void preload_pool_placed(struct preload_pool *pool, uint64_t address, uint32_t slot_bytes);
/* Reads how many slots are in use. Gives memory to those without, and to the next one. */
void preload_pool_look(struct preload_pool *pool);
/* Adds the counters of the process's threads, and of its children without a pool, to sum. */
void preload_pool_count(const struct preload_pool *pool, struct preload_counts *sum);
/* Returns true if no slot has an owner. */
bool preload_pool_is_left(const struct preload_pool *pool);

#endif
