/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The memory of one process that records its calls itself: a slot for each of its threads that call (abi/preload.h). */
#ifndef POV_RECORD_PRELOAD_PRELOAD_POOL_H
#define POV_RECORD_PRELOAD_PRELOAD_POOL_H

#include "abi/preload.h"
#include "record/preload/preload_area.h"

struct preload_pool {
	int fd; /* until the process has it; then -1 */
	char *mem;
	uint64_t address;    /* in the process; 0: it has not said yet that it has it */
	uint32_t slot_bytes; /* from slot to slot there */
	bool main_gone;
	struct preload_speaker who; /* of each slot, but for tid */
	bool lib[POV_LIB_NUMBERS];  /* that it has hooked */
	uint32_t used;
	uint32_t owner[POV_PRELOAD_SLOTS]; /* as they were seen last */
	struct thread_area slot[POV_PRELOAD_SLOTS];
};

/* Tries whether one can be made. 0 or -errno. */
int preload_pool_try(void);
/* Its first slot has memory. who->since_ns: now; who->lib is not used. threads, spare: borrowed (struct thread_area). 0 or -errno. */
int preload_pool_make(const struct preload_speaker *who, const struct map *threads, uint64_t *spare,
		      struct preload_pool **out);
void preload_pool_free(struct preload_pool *pool);
/* The process has it, with so many bytes from slot to slot. */
void preload_pool_placed(struct preload_pool *pool, uint64_t address, uint32_t slot_bytes);
/* Looks how many slots are in use, and gives those memory that have none, and the next one, too. */
void preload_pool_look(struct preload_pool *pool);
/* None of its slots has an owner. */
bool preload_pool_is_left(const struct preload_pool *pool);

#endif
