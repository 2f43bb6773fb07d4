/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The memory of one thread that records its calls itself: made, emptied, closed (abi/preload.h). */
#ifndef POV_COLLECT_PRELOAD_AREA_H
#define POV_COLLECT_PRELOAD_AREA_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/preload_check.h"

struct pov_hdr;
struct pov_preload_area;
struct preload_counts;

struct thread_area {
	struct pov_preload_area *mem; /* the process can write to all of it, at any time */
	int fd;			      /* of it; -1 once the thread has it */
	struct preload_speaker who;
	uint64_t tail; /* bytes taken; what stands in the memory is not read again */
	bool damaged;  /* nonsense in it: not read any more */
	/* Begin of the last call that was taken: not open, whatever the state says. */
	uint64_t last_begin_ns;
};

typedef void thread_area_fn(void *ctx, const struct pov_hdr *rec);

/* Tries whether the memory of an area can be made. 0 or -errno. */
int thread_area_try(void);
/* who->since_ns: now. 0 or -errno. */
int thread_area_make(const struct preload_speaker *who, struct thread_area **out);
/* Hands over what is in its ring. The bytes that it had. */
uint64_t thread_area_take(struct thread_area *a, thread_area_fn *fn, void *ctx);
/* Ends what is open in it, with the given POV_CALL_* flag. How many calls. */
uint64_t thread_area_end(struct thread_area *a, uint64_t end_ns, uint8_t flag, thread_area_fn *fn,
			 void *ctx);
/* Hands over what its thread has gathered by now and not told yet: spins and counted calls, as if they were over. */
void thread_area_untold(const struct thread_area *a, thread_area_fn *fn, void *ctx);
/* Adds what its thread counted, as far as it can be true. */
void thread_area_count(const struct thread_area *a, struct preload_counts *sum);
void thread_area_free(struct thread_area *a);

#endif
