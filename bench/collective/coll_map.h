/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Overlap of a non-blocking collective over message size × computation time: every rank posts it,
 * computes, waits. All begin at the same moment by their clocks (start_window.h), and a sample is
 * the longest of the ranks' times. T_comm is post and wait without computation (as in OSU), so
 * that the ratio shows overlap alone. The time `blocking` is the blocking collective, which
 * mpiperf's figure uses.
 */
#ifndef POVBENCH_COLLECTIVE_COLL_MAP_H
#define POVBENCH_COLLECTIVE_COLL_MAP_H

#include "overlap/map.h"

/*
 * The part of a collective benchmark: its operation and its data. Each rank has its own in and
 * out.
 */
struct coll_data {
	enum comm_coll op;
	/* Allocates and fills the buffers for m->bytes, which may be the same; null: no data. */
	void (*make)(struct map *m, void **in, void **out);
	void (*check)(struct map *m, void *out);
};

/* The members of a pattern that all collectives share. `data` must be a struct coll_data. */
#define COLL_MAP_PATTERN                                                                           \
	.all_compute = true, .own_buffers = true, .sequence = coll_map_sequence,                   \
	.reference = coll_map_reference, .computation = coll_map_computation,                      \
	.size_begin = coll_map_size_begin, .size_end = coll_map_size_end, .check = coll_map_check, \
	.params = coll_map_params

double coll_map_sequence(struct map *m);
double coll_map_computation(struct map *m);
void coll_map_reference(struct map *m, struct samples *out);
void coll_map_size_begin(struct map *m);
void coll_map_size_end(struct map *m);
void coll_map_check(struct map *m);
void coll_map_params(struct map *m, struct result_point *point);

/* Runs the blocking collective once. Returns the longest of the ranks' times on rank 0. */
double coll_map_blocking(struct map *m);

#endif
