/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Losses: samples the kernel half's counters and writes a LOST record for each that grew, with the
 * interval it grew in, so that readers can refuse conclusions across the gap.
 */
#ifndef POV_COLLECT_DROPS_H
#define POV_COLLECT_DROPS_H

#include <jansson.h>
#include <stdint.h>

#include "abi/config.h"

struct trace_writer;

struct drops {
	const volatile uint64_t *counters; /* the kernel half's */
	uint64_t last[POV_COUNTERS];
	uint64_t last_ns;
	uint64_t total; /* records dropped so far */
};

void drops_init(struct drops *d, const volatile uint64_t *counters, uint64_t now_ns);
/* Writes what was lost since the last call. rings: number of rings, the rescue ring not counted. */
void drops_sample(struct drops *d, unsigned int rings, struct trace_writer *w, uint64_t now_ns);
/* Sums for the "end" meta object: [{ring, class, cnt}], and {name: cnt}. The caller owns them. */
json_t *drops_json(const struct drops *d, unsigned int rings);
json_t *drops_misses_json(const struct drops *d);
/* Records of a class that rings had no room for. */
uint64_t drops_of(const struct drops *d, unsigned int rings, enum pov_class class);
uint64_t drops_stat(const struct drops *d, enum pov_stat stat);

#endif
