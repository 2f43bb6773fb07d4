/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where threads of ranks computed, by samples: each stands for 1/POV_SAMPLES_HZ s on a CPU outside
 * recorded calls, while the process used MPI (windows.h).
 */
#ifndef POV_ANALYSIS_SAMPLES_H
#define POV_ANALYSIS_SAMPLES_H

#include "analysis/call_paths.h"
#include "analysis/windows.h"

/* The samples of a thread in one place, called in one way. */
struct samples_at {
	uint32_t thread; /* index for model_thread_get() */
	const struct call_path *path;
	uint64_t samples;
};

struct samples {
	struct model_sink sink; /* adds all that count, by windows */
	const struct windows *windows;
	struct call_paths paths;
	struct map at; /* thread and path → struct samples_at; owned */
};

void samples_init(struct samples *s, const struct windows *w);
void samples_release(struct samples *s);
/* True if a sample tells where a rank computes. */
bool sample_counts(const struct model_sample *sample, const struct windows *w);
void samples_add(struct samples *s, const struct model_sample *sample);
/* Iterates over all places, in no particular order. *pos: 0 at first. NULL: no more. */
const struct samples_at *samples_next(const struct samples *s, size_t *pos);

/*
 * A function, by name. What a library does counts for the innermost function of the program that
 * called it, if that is known (--stacks) and has a known source.
 */
struct samples_function {
	const struct site_name *name; /* at its most frequent line; NULL: unknown */
	const struct model_module *module;
	uint64_t samples, of; /* in it; of the thread */
	uint64_t called;      /* of those in it, in libraries that it called */
};

/* The function in which a thread had most samples. */
struct samples_function samples_most(const struct samples *s, struct sites *sites, uint32_t thread);
/*
 * All functions of the processes chosen (by index), most samples first; *n: their number. A row
 * without a name is all of a file in which no function is known; without a module, code in no file.
 * Caller frees.
 */
struct samples_function *samples_functions(const struct samples *s, const struct model *m,
					   struct sites *sites, const bool *chosen, uint32_t *n);

struct json_out;
/* Writes its members into the open object. */
void samples_function_json(struct json_out *j, const struct samples_function *f);

#endif
