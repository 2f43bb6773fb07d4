/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Overhead of tracing per process: counts probe hits by process, library and function, and notes
 * the processes' lifetimes, while records are stored. So the result is known at the end without
 * reading the file again.
 */
#ifndef POV_RECORD_TOLL_H
#define POV_RECORD_TOLL_H

#include <jansson.h>

#include "abi/event.h"
#include "lib/distortion.h"
#include "lib/map.h"
#include "record/probes/calibrate.h"

struct toll_hits {
	uint64_t calls, polls;
	uint64_t counted; /* calls that were only counted */
	/*
	 * Calls and polls that the process has recorded itself, and calls that it has counted
	 * itself. The other counters do not include them.
	 */
	uint64_t preloaded, preloaded_counted;
	uint64_t preloaded_polls; /* the part of preloaded that is polls without a result */
	bool stepped;
	/*
	 * For toll_window.c: hits that threads have not written yet (open_*), and totals at the
	 * last look (seen_*).
	 */
	uint64_t open_polls, open_counted, open_preloaded, open_preloaded_counted;
	uint64_t seen_calls, seen_polls, seen_counted, seen_preloaded, seen_preloaded_counted;
};

/*
 * A small cache of counters for functions that are called in turn, so that not every record needs a
 * lookup.
 */
#define TOLL_LAST 16
struct toll_last {
	uint64_t key;
	struct toll_hits *hits; /* NULL: empty */
};

/* Zero-initialised, it is empty. */
struct toll {
	struct map hits;       /* process, library, function → owned struct toll_hits */
	struct map begin, end; /* process → begin and end + 1, if recorded */
	struct toll_last last[TOLL_LAST]; /* cache by process and function */
};

/* Finds or makes the counters of a process, library and function. */
struct toll_hits *toll_hits_of(struct toll *t, uint32_t tgid, uint16_t lib, uint16_t func);
/* Returns the cost of all hits in ns. */
double toll_cost(const struct toll_hits *h, const struct probe_cost *cost);
void toll_record(struct toll *t, const struct pov_hdr *rec);
/* Reads from a library's meta object "library" which of its functions are single-stepped. */
void toll_library(struct toll *t, const json_t *meta);
/*
 * Finds the process with the highest cost, relative to its life between start_ns and end_ns. *pid
 * is 0 if there is none. The caller sets out->who.
 */
void toll_find(const struct toll *t, const struct probe_cost *cost, uint64_t start_ns,
	       uint64_t end_ns, struct distortion *out, uint32_t *pid);
/* Forgets the processes that ended before a time. */
void toll_prune(struct toll *t, uint64_t before_ns);
void toll_release(struct toll *t);

#endif
