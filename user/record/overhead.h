/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Overhead of tracing per process: counts probe hits by process, library and function, and notes
 * the processes' lifetimes, while records are stored. So the result is known at the end without
 * reading the file again. It also yields the cost since an earlier moment (overhead_window).
 */
#ifndef POV_RECORD_OVERHEAD_H
#define POV_RECORD_OVERHEAD_H

#include <jansson.h>

#include "abi/event.h"
#include "lib/distortion.h"
#include "lib/map.h"
#include "record/probes/calibrate.h"

struct overhead_counts {
	uint64_t calls, polls;
	uint64_t counted; /* calls that were only counted */
	/*
	 * Calls and polls that the process has recorded itself, and calls that it has counted
	 * itself. The other counters do not include them.
	 */
	uint64_t preloaded, preloaded_counted;
	uint64_t preloaded_polls; /* the part of preloaded that is polls without a result */
};

struct overhead_hits {
	struct overhead_counts all;
	struct overhead_counts window; /* since the window's begin */
	bool stepped;
};

/*
 * A small cache of counters for functions that are called in turn, so that not every record needs a
 * lookup.
 */
#define OVERHEAD_LAST 16
struct overhead_last {
	uint64_t key;
	struct overhead_hits *hits; /* NULL: empty */
};

/* Zero-initialised, it is empty. */
struct overhead {
	struct map hits;       /* process, library, function → owned struct overhead_hits */
	struct map begin, end; /* process → begin and end + 1, if recorded */
	uint64_t window_ns;    /* begin of the window */
	struct overhead_last last[OVERHEAD_LAST]; /* cache by process and function */
};

void overhead_record(struct overhead *o, const struct pov_hdr *rec);
/* Reads from a library's meta object "library" which of its functions are single-stepped. */
void overhead_library(struct overhead *o, const json_t *meta);
/*
 * Finds the process with the highest cost, relative to its life between start_ns and end_ns. *pid
 * is 0 if there is none. The caller sets out->who.
 */
void overhead_find(const struct overhead *o, const struct probe_cost *cost, uint64_t start_ns,
		   uint64_t end_ns, struct distortion *out, uint32_t *pid);
/*
 * The cost of a function in a process over a window of time, in percent of that time. func
 * UINT16_MAX: cost that belongs to no row of the function table.
 */
struct overhead_share {
	uint32_t tgid;
	uint16_t func;
	double pct;
	double counted_pct; /* its cost if all these calls were only counted */
};

/* Grows as needed. Zero-initialised, it is empty. */
struct overhead_shares {
	struct overhead_share *v; /* owned */
	uint32_t cnt;
};

/*
 * Ends a window: adds its costs to out, and begins the next window. If a spin began in an earlier
 * window, only its polls in the window where it ends count.
 */
void overhead_window(struct overhead *o, const struct probe_cost *cost, uint64_t now_ns,
		     struct overhead_shares *out);
void overhead_shares_release(struct overhead_shares *s);
/* Forgets the processes that ended before a time. */
void overhead_prune(struct overhead *o, uint64_t before_ns);
void overhead_release(struct overhead *o);

#endif
