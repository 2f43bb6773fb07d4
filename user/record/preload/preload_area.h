/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A slot of a process's pool (abi/preload.h), in which threads record their calls themselves, one after the other: emptied, ended, counted.
 */
#ifndef POV_RECORD_PRELOAD_PRELOAD_AREA_H
#define POV_RECORD_PRELOAD_PRELOAD_AREA_H

#include <stdbool.h>
#include <stdint.h>

#include "record/preload/preload_check.h"

struct map;
struct pov_hdr;
struct pov_preload_area;
struct preload_counts;

struct thread_area {
	struct pov_preload_area *mem; /* borrowed; the process can write to all of it, at any time */
	struct preload_speaker who;   /* tid: of the thread that has spoken last; 0: none has */
	const struct map
		*threads;    /* number → process (as a pointer) of all that may speak; borrowed */
	uint64_t tail;	     /* bytes taken; what stands in the memory is not read again */
	bool first, few;     /* which rings it has (pov_preload_ring_bytes) */
	uint32_t made;	     /* of these have memory */
	uint32_t more_bytes; /* of the next one have memory by now */
	uint32_t ring;	     /* in which the next record stands that is taken */
	uint64_t *spare; /* bytes that may still be made for larger rings; borrowed; NULL: none */
	bool damaged;	 /* nonsense in it: not read any more */
	uint64_t strange_ns; /* since when a thread speaks of which nothing is known; 0: none does */
	uint32_t world_told; /* as far as its owner has initialised MPI by what was handed over: enum pov_preload_world */
	/* Begin of the last call that was taken: not open, whatever the state says. */
	uint64_t last_begin_ns;
};

typedef void thread_area_fn(void *ctx, const struct pov_hdr *rec);

/* Gives a slot memory of ours, unless it has some: its state, and its first ring. */
void thread_area_fill(struct thread_area *a);
/* Gives back what was made for larger rings. */
void thread_area_release(struct thread_area *a);
/* Whether its ring is rather full by now. */
bool thread_area_fills(const struct thread_area *a);
/*
 * Hands over what is in its rings. Which part of its ring that was: 1 is a full one. Where it was rather full, some of the next ring's memory is made,
 * which the thread begins once it has all of it.
 */
double thread_area_take(struct thread_area *a, thread_area_fn *fn, void *ctx);
/* Ends what the slot's owner has open, with the given POV_CALL_* flag. How many calls. */
uint64_t thread_area_end(struct thread_area *a, uint64_t end_ns, uint8_t flag, thread_area_fn *fn,
			 void *ctx);
/*
 * The thread has ended: takes and ends what it has, and frees its slot. Nothing if the slot is another's by now, who has done that.
 */
void thread_area_free_of(struct thread_area *a, uint32_t tid, uint64_t end_ns, uint8_t flag,
			 thread_area_fn *fn, void *ctx);
/* Hands over what its thread has gathered by now and not told yet: spins and counted calls, as if they were over. */
void thread_area_untold(const struct thread_area *a, thread_area_fn *fn, void *ctx);
/* Adds what its threads counted, as far as it can be true. */
void thread_area_count(const struct thread_area *a, struct preload_counts *sum);

#endif
