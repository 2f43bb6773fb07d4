/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What tracing cost each process, counted while its records are stored, so that it can be said at the end without
 * reading the file again: probe hits by process, library and function, and the processes' lives.
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
	uint64_t counted; /* calls that were counted only */
	/* Calls and polls that their process has recorded itself, and calls that it has counted itself; in none of the others. */
	uint64_t preloaded, preloaded_counted;
	uint64_t preloaded_polls; /* of preloaded: polls that found nothing */
	bool stepped;
	/* toll_window.c: what threads have not told yet, and what was there when it was last looked at */
	uint64_t open_polls, open_counted, open_preloaded, open_preloaded_counted;
	uint64_t seen_calls, seen_polls, seen_counted, seen_preloaded, seen_preloaded_counted;
};

/* Where a few functions that are called by turns were counted last, so that each record need not be looked for. */
#define TOLL_LAST 16
struct toll_last {
	uint64_t key;
	struct toll_hits *hits; /* NULL: nothing */
};

/* A zeroed struct is empty. */
struct toll {
	struct map hits; /* process, library, function → owned struct toll_hits */
	struct map begin,
		end; /* process → when it began and ended, if the recording saw that; + 1 */
	struct toll_last last[TOLL_LAST]; /* by process and function */
};

/* Of a process, library and function; made if there are none. */
struct toll_hits *toll_hits_of(struct toll *t, uint32_t tgid, uint16_t lib, uint16_t func);
/* ns that it all cost. */
double toll_cost(const struct toll_hits *h, const struct probe_cost *cost);
void toll_record(struct toll *t, const struct pov_hdr *rec);
/* The "library" meta object of a library: which of its functions are single-stepped. */
void toll_library(struct toll *t, const json_t *meta);
/*
 * The process that it cost most, against its life between start_ns and end_ns. *pid: 0 if there is none; who is left to
 * the caller.
 */
void toll_find(const struct toll *t, const struct probe_cost *cost, uint64_t start_ns,
	       uint64_t end_ns, struct distortion *out, uint32_t *pid);
/* Forgets the processes that ended before a time. */
void toll_prune(struct toll *t, uint64_t before_ns);
void toll_release(struct toll *t);

#endif
