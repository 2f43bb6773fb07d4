/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What tracing cost each process, counted while its records are stored, so that it can be said at the end without
 * reading the file again: probe hits by process, library and function, and the processes' lives.
 */
#ifndef POV_COLLECT_TOLL_H
#define POV_COLLECT_TOLL_H

#include <jansson.h>

#include "abi/event.h"
#include "base/distortion.h"
#include "base/map.h"
#include "collect/calibrate.h"

struct toll_hits;

/* A zeroed struct is empty. */
struct toll {
	struct map hits; /* process, library, function → owned struct toll_hits */
	struct map begin,
		end; /* process → when it began and ended, if the recording saw that; + 1 */
	uint64_t last_key;
	struct toll_hits *last;
};

void toll_record(struct toll *t, const struct pov_hdr *rec);
/* The "library" meta object of a library: which of its functions are single-stepped. */
void toll_library(struct toll *t, const json_t *meta);
/*
 * The process that it cost most, against its life between start_ns and end_ns. *pid: 0 if there is none; who is left to
 * the caller.
 */
void toll_find(const struct toll *t, const struct probe_cost *cost, uint64_t start_ns,
	       uint64_t end_ns, struct distortion *out, uint32_t *pid);
void toll_release(struct toll *t);

#endif
