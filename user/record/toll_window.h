/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The cost of tracing per process since the last look: from records, and from spins and counted
 * calls that threads have gathered but not written yet.
 */
#ifndef POV_RECORD_TOLL_WINDOW_H
#define POV_RECORD_TOLL_WINDOW_H

#include "record/probes/limit.h"
#include "record/toll.h"

struct pov_thread;

/* Grows as needed. Zero-initialised, it is empty. */
struct toll_costs {
	struct limit_cost *v; /* by process and function; owned */
	size_t cnt, room;
};

/* Begins a look: forgets what threads had gathered at the last one. */
void toll_open_begin(struct toll *t);
/* Adds what a thread has gathered. */
void toll_open_thread(struct toll *t, const struct pov_thread *thread);
/* Adds a spin or counted calls that a thread which records its own calls has gathered. */
void toll_open_preloaded(struct toll *t, const struct pov_hdr *rec);
/* Ends a look: adds the cost of all hits since the last one to out, in percent of elapsed_ns. */
void toll_look(struct toll *t, const struct probe_cost *cost, uint64_t elapsed_ns,
	       struct toll_costs *out);
void toll_costs_add(struct toll_costs *c, const struct limit_cost *one);
void toll_costs_release(struct toll_costs *c);

#endif
