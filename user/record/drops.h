/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Losses: takes the kernel half's words on them and writes a LOST record for each that is not zero, with bounds of
 * what is missing, so that readers can refuse conclusions across the gap.
 */
#ifndef POV_RECORD_DROPS_H
#define POV_RECORD_DROPS_H

#include <jansson.h>
#include <stdint.h>

#include "abi/config.h"
#include "record/preload/preload.h"

struct trace_writer;

/* What was counted at some moment. */
struct drops_mark {
	uint64_t cnt[POV_DROPS];
	uint64_t miss[POV_MISS_CNT];
	uint64_t stat[POV_STAT_CNT];
};

struct drops {
	const volatile uint64_t *counters; /* the kernel half's */
	volatile uint64_t *words;	   /* the kernel half's, POV_DROPS of them */
	uint64_t taken[POV_DROPS];	   /* the words as they were, not written yet */
	uint64_t timeless[POV_DROPS];	   /* of the counters, written */
	uint64_t cnt[POV_DROPS];	   /* all that is written */
	unsigned int rings;
	uint64_t start_ns;
	uint64_t total;			 /* records dropped so far */
	struct drops_mark base;		 /* what is not told: of before a moment; zeros: all is */
	struct preload_counts preloaded; /* of threads that record their calls themselves, … */
	uint64_t preloaded_ns;		 /* … as counted then; 0: never */
};

/* rings: how many, the rescue ring not counted. */
void drops_init(struct drops *d, const volatile uint64_t *counters, volatile uint64_t *words,
		unsigned int rings, uint64_t start_ns);
/* Takes what was lost since the last call. */
void drops_take(struct drops *d);
/* What threads that record their calls themselves have counted: what they have lost since this was called last is written. */
void drops_preloaded(struct drops *d, const struct preload_counts *counts, struct trace_writer *w,
		     uint64_t now_ns);
/* Writes what was taken. now_ns: read after it was taken, or the recording's end; what lies behind is left out. */
void drops_write(struct drops *d, struct trace_writer *w, uint64_t now_ns);
void drops_mark(const struct drops *d, struct drops_mark *out);
/* Sums for the "end" meta object: [{ring, class, cnt}], and {name: cnt}. The caller owns them. These and what follows since d->base. */
json_t *drops_json(const struct drops *d);
json_t *drops_misses_json(const struct drops *d);
/* Records of a class that rings had no room for. */
uint64_t drops_of(const struct drops *d, enum pov_class class);
uint64_t drops_stat(const struct drops *d, enum pov_stat stat);

#endif
