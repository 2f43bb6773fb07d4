/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where threads of ranks computed, by samples: each stands for 1/POV_SAMPLES_HZ s on a CPU outside
 * recorded calls, while the process used MPI (windows.h).
 */
#ifndef POV_ANALYSIS_SAMPLES_H
#define POV_ANALYSIS_SAMPLES_H

#include "analysis/windows.h"
#include "lib/map.h"

/* The samples of a thread at one address. */
struct samples_at {
	uint32_t thread; /* index for model_thread_get() */
	struct model_site at;
	uint64_t samples;
	struct samples_at *next; /* with the same hash */
};

struct samples {
	struct model_sink sink; /* adds all that count, by windows */
	const struct windows *windows;
	struct map at; /* hash → list of struct samples_at; owned */
	uint32_t nat;
};

void samples_init(struct samples *s, const struct windows *w);
void samples_release(struct samples *s);
/* True if a sample tells where a rank computes. */
bool sample_counts(const struct model_sample *sample, const struct windows *w);
void samples_add(struct samples *s, const struct model_sample *sample);
/* Iterates over all places, in no particular order. *pos: 0 at first. NULL: no more. */
const struct samples_at *samples_next(const struct samples *s, size_t *pos,
				      const struct samples_at *last);

struct sites;

/*
 * The function in which a thread had most samples. It has names only if the recorded file is there.
 */
struct samples_function {
	const struct site_name *name; /* at its most frequent line; NULL: unknown */
	const struct model_module *module;
	uint64_t samples, of; /* in it; of the thread */
};

struct samples_function samples_most(const struct samples *s, struct sites *sites, uint32_t thread);
/* Name of an address itself: site_names.h names calls by the address after them. */
const struct site_name *samples_name(struct sites *sites, const struct model_site *at);

#endif
