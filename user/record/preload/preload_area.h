/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A slot of a process's pool (abi/preload.h), to which threads write their calls, one thread after
 * the other. This code reads it, ends open calls, and sums up the counters.
 */
#ifndef POV_RECORD_PRELOAD_PRELOAD_AREA_H
#define POV_RECORD_PRELOAD_PRELOAD_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/preload.h"

struct map;
struct pov_hdr;
struct pov_preload_area;
struct preload_counts;

/* The writer of a record, and what its records may contain. */
struct preload_speaker {
	uint32_t tid, tgid;
	/* by library number, POV_LIB_NUMBERS of them; true: an MPI library of the process */
	const bool *lib;
	uint32_t first_row, rows;
	const bool *wanted; /* by row from first_row on */
	uint32_t cpus;
	uint64_t since_ns, until_ns; /* time range of its records */
};

struct thread_area {
	/* borrowed; the process can write to it at any time */
	struct pov_preload_area *mem;
	struct preload_speaker who; /* tid is the thread that wrote last; 0: none yet */
	/* thread number → process (as a pointer) of all threads that may write; borrowed */
	const struct map *threads;
	uint64_t tail;	     /* bytes read; the value in shared memory is never read back */
	uint32_t slot;	     /* index in the pool */
	bool few;	     /* the process has few slots; slot and few determine its rings */
	uint32_t made;	     /* number of rings with memory */
	uint32_t more_bytes; /* bytes of the next ring that already have memory */
	uint32_t ring;	     /* ring of the next record to read */
	uint64_t *spare;     /* bytes still available for larger rings; borrowed; NULL: none */
	bool damaged;	     /* had an invalid record and is not read any more */
	/* since when an unknown thread has been writing; 0: none has */
	uint64_t strange_ns;
	uint64_t looked_ns; /* when it was last checked whether the thread may sleep */
	/* the last state of MPI's initialisation that was reported: enum pov_preload_world */
	uint32_t world_reported;
	/*
	 * Begin of the last call that was read. That call has ended, even if the thread's state
	 * shows it as open.
	 */
	uint64_t last_begin_ns;
	pov_preload_kept *kept; /* calls that later ones are like; owned; NULL: none yet */
};

typedef void thread_area_fn(void *ctx, const struct pov_hdr *rec);

/* Gives a slot memory for its state and its first ring, unless it has some. */
void thread_area_fill(struct thread_area *a);
/* Frees the slot's kept calls, and gives its bytes for larger rings back to `spare`. */
void thread_area_release(struct thread_area *a);
/* Returns true if the ring is rather full. */
bool thread_area_fills(const struct thread_area *a);
/*
 * Passes the records in the rings to fn. Returns the used fraction of the ring; 1 is full. If it
 * was rather full, gives part of the next ring memory; the thread uses that ring once all of it has
 * memory.
 */
double thread_area_take(struct thread_area *a, thread_area_fn *fn, void *ctx);
/* Ends the open calls of the slot's owner with the given POV_CALL_* flag. Returns their number. */
uint64_t thread_area_end(struct thread_area *a, uint64_t end_ns, uint8_t flag, thread_area_fn *fn,
			 void *ctx);
/*
 * The thread has ended: reads and ends its records, and frees its slot. No-op if another thread,
 * which has done this, owns the slot.
 */
void thread_area_free_of(struct thread_area *a, uint32_t tid, uint64_t end_ns, uint8_t flag,
			 thread_area_fn *fn, void *ctx);
/* Adds the counters of the slot's threads to sum, if they are plausible. */
void thread_area_count(const struct thread_area *a, struct preload_counts *sum);

/* The memory of one process that records its own calls: one slot for each calling thread. */
struct preload_pool {
	int fd; /* -1 once the process has it */
	char *mem;
	uint64_t address; /* address in the process; 0: the process has not confirmed it yet */
	struct preload_speaker who;   /* for each slot, except tid */
	bool lib[POV_LIB_NUMBERS];    /* libraries whose functions the process has hooked */
	bool probed[POV_LIB_NUMBERS]; /* libraries whose functions it cannot hook */
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
/* The process has mapped the pool with that many slots. */
void preload_pool_placed(struct preload_pool *pool, uint64_t address, uint32_t slots);
/* Reads how many slots are in use. Gives memory to those without, and to the next one. */
void preload_pool_look(struct preload_pool *pool);
/* Adds the counters of the process's threads, and of its children without a pool, to sum. */
void preload_pool_count(const struct preload_pool *pool, struct preload_counts *sum);
/* Returns true if no slot has an owner. */
bool preload_pool_is_left(const struct preload_pool *pool);

/* ---- preload_check.c: records that a process has written itself ---- */

/* The longest record that a process writes. */
#define PRELOAD_RECORD_MAX 1024

/*
 * Checks a copy of a record for values that cannot be true, and sets its thread and process. bytes:
 * its size. False: our library would never have written it.
 */
bool preload_check(struct pov_hdr *rec, size_t bytes, const struct preload_speaker *who);

#endif
