/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Records lost by the kernel half: reads its loss counters and writes a LOST record for each that
 * is not zero, with the time range of the loss. Readers can then refuse conclusions across the gap.
 */
#ifndef POV_RECORD_DROPS_H
#define POV_RECORD_DROPS_H

#include <jansson.h>
#include <stdint.h>

#include "abi/config.h"
#include "record/preload/preload.h"

struct trace_writer;

/* All counters at one moment. */
struct drops_mark {
	uint64_t cnt[POV_DROPS];
	uint64_t miss[POV_MISS_CNT];
	uint64_t stat[POV_STAT_CNT];
};

struct drops {
	const volatile uint64_t *counters; /* shared with the BPF programs */
	/* loss counters with their start times, POV_DROPS of them, shared with the BPF programs */
	volatile uint64_t *words;
	uint64_t taken[POV_DROPS]; /* words that were read but not written yet */
	/* the part of `counters`, which have no time, that is written */
	uint64_t timeless[POV_DROPS];
	uint64_t cnt[POV_DROPS]; /* total written for each word */
	unsigned int rings;
	uint64_t start_ns;
	uint64_t total; /* records dropped so far */
	/* counts before the part that is reported; zeros: report everything */
	struct drops_mark base;
	/* Losses of threads that record their own calls, as counted at preloaded_ns. */
	struct preload_counts preloaded;
	uint64_t preloaded_ns; /* 0: never */
};

/* rings does not count the rescue ring. */
void drops_init(struct drops *d, const volatile uint64_t *counters, volatile uint64_t *words,
		unsigned int rings, uint64_t start_ns);
/* Reads what was lost since the last call. */
void drops_take(struct drops *d);
/*
 * Writes what threads that record their own calls have lost since the last call of this function.
 */
void drops_preloaded(struct drops *d, const struct preload_counts *counts, struct trace_writer *w,
		     uint64_t now_ns);
/*
 * Writes what drops_take read. now_ns is a time read after that, or the recording's end; losses
 * that began later are left out.
 */
void drops_write(struct drops *d, struct trace_writer *w, uint64_t now_ns);
void drops_mark(const struct drops *d, struct drops_mark *out);
/*
 * Sums for the "end" meta object since d->base: [{ring, class, cnt}], and {name: cnt}. The caller
 * owns them. The function below also counts from d->base.
 */
json_t *drops_json(const struct drops *d);
json_t *drops_misses_json(const struct drops *d);
uint64_t drops_stat(const struct drops *d, enum pov_stat stat);

#endif
