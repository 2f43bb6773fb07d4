/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds which threads held the core while a thread of a recorded process was runnable, and for how
 * long. These are the threads that ran on the CPU that it waited for. Only the last
 * HOLDERS_RUNS_MAX runs of each CPU are kept. Waiting before these, and waiting with no known
 * holder, is counted separately.
 */
#ifndef POV_ANALYSIS_HOLDERS_H
#define POV_ANALYSIS_HOLDERS_H

#include "analysis/observers.h"
#include "lib/map.h"
#include "model/model.h"

#define HOLDERS_RUNS_MAX 16384

/* How long one thread held the core while another thread waited for it. */
struct holder {
	uint32_t waiter, thread; /* idx of threads */
	uint64_t ns;
};

/*
 * How long a process held the core while a thread waited for it. Other analyses keep such a table
 * for the part of the run that they look at.
 */
struct held {
	/* waiter: idx of a thread; holder: idx of a process, or HELD_UNKNOWN */
	uint32_t waiter, holder;
	uint64_t ns;
};
#define HELD_UNKNOWN UINT32_MAX

struct holders_row {
	uint64_t runnable_ns; /* = Σ holder.ns + idle_ns + unknown_ns */
	/* the core was idle; the thread was about to be switched in */
	uint64_t idle_ns;
	uint64_t unknown_ns;
	/* point in time up to which the current waiting has been counted */
	uint64_t counted_ns;
};

/* A stretch in which a thread was runnable, and the thread that ran on its CPU. NULL: unknown. */
struct held_stretch {
	const struct model_thread *waiter, *holder;
	uint64_t from_ns, to_ns;
};

struct holders_core;

struct holders {
	struct model_sink sink;
	struct observers stretches; /* events: struct held_stretch */
	struct holders_core *core;  /* by CPU; owned */
	uint32_t ncore;
	struct map pairs;	    /* waiter, holder → struct holder */
	struct holders_row *thread; /* by idx of the waiter; owned */
	uint32_t nthread;
};

/*
 * Adds to held: waiter, holder → struct held. holder NULL: unknown. The map's values are freed with
 * free().
 */
void held_add(struct map *held, const struct model_thread *waiter,
	      const struct model_thread *holder, uint64_t ns);
uint64_t held_get(const struct map *held, uint32_t waiter, uint32_t holder);
void holders_init(struct holders *a);
void holders_release(struct holders *a);
/*
 * All pairs, sorted by the waiter's process, then grouped by waiter, longest first. The caller
 * frees the list.
 */
struct holder *holders_list(const struct holders *a, const struct model *m, uint32_t *n);

#endif
