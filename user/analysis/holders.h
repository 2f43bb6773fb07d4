/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Who had the core: while a thread of a recorded process was runnable, which threads ran on the CPU that it waited for, and how long.
 * What ran there is known of the last HOLDERS_RUNS_MAX stretches of each CPU; how much of the waiting lies before, and how long
 * nobody is known to have run, is told apart.
 */
#ifndef POV_ANALYSIS_HOLDERS_H
#define POV_ANALYSIS_HOLDERS_H

#include "lib/map.h"
#include "model/model.h"

#define HOLDERS_RUNS_MAX 16384

/* Of a thread that waited, by who held the core meanwhile; of all times ns. */
struct holder {
	uint32_t waiter, thread; /* idx of threads */
	uint64_t ns;
};

/* By threads that waited, and the processes that held their cores: a table that others keep for the part that they look at. */
struct held {
	uint32_t waiter, holder; /* idx of a thread; idx of a process, or HELD_UNKNOWN */
	uint64_t ns;
};
#define HELD_UNKNOWN UINT32_MAX

struct holders_row {
	uint64_t runnable_ns; /* = Σ holder.ns + idle_ns + unknown_ns */
	uint64_t idle_ns;     /* the core was idle: the thread was on its way there */
	uint64_t unknown_ns;
	uint64_t counted_ns; /* a time: of what is under way, all before it is counted */
};

struct holders_core;

struct holders {
	struct model_sink sink;
	/* The caller's, or NULL: each stretch in which a thread was runnable, and who ran there; holder NULL: not known. */
	void (*tell)(void *ctx, const struct model_thread *waiter,
		     const struct model_thread *holder, uint64_t from_ns, uint64_t to_ns);
	void *ctx;
	struct holders_core *core; /* by CPU; owned */
	uint32_t ncore;
	struct map pairs;	    /* waiter, holder → struct holder */
	struct holders_row *thread; /* by idx of the waiter; owned */
	uint32_t nthread;
};

/* holder NULL: unknown. held: waiter, holder → struct held; to be freed with free(). */
void held_add(struct map *held, const struct model_thread *waiter,
	      const struct model_thread *holder, uint64_t ns);
uint64_t held_get(const struct map *held, uint32_t waiter, uint32_t holder);
void holders_init(struct holders *a);
void holders_release(struct holders *a);
/* All, by waiters' processes, those of one waiter together, the longest first. Caller frees. */
struct holder *holders_list(const struct holders *a, const struct model *m, uint32_t *n);

#endif
