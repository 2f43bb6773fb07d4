/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What tracing has cost each process since it was looked at last: from the records, and from what threads have gathered and not told
 * yet, spins and counted calls.
 */
#ifndef POV_RECORD_TOLL_WINDOW_H
#define POV_RECORD_TOLL_WINDOW_H

#include "record/probes/limit.h"
#include "record/toll.h"

struct pov_thread;

/* Grows; a zeroed struct is empty. */
struct toll_costs {
	struct limit_cost *v; /* by process and function; owned */
	size_t cnt, room;
};

/* Begins a look: what threads had gathered then is forgotten. */
void toll_open_begin(struct toll *t);
/* What a thread has gathered by now. */
void toll_open_thread(struct toll *t, const struct pov_thread *thread);
/* The same of a thread that records its calls itself: a spin or counted calls that it has gathered. */
void toll_open_preloaded(struct toll *t, const struct pov_hdr *rec);
/* Ends it: adds to out what hits since the last look have cost, in percent of elapsed_ns. */
void toll_look(struct toll *t, const struct probe_cost *cost, uint64_t elapsed_ns,
	       struct toll_costs *out);
void toll_costs_add(struct toll_costs *c, const struct limit_cost *one);
void toll_costs_release(struct toll_costs *c);

#endif
