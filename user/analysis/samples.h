/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds where threads of ranks computed, by samples. Each stands for 1/POV_SAMPLES_HZ s on a CPU
 * outside recorded calls, while the process used MPI (windows.h).
 */
#ifndef POV_ANALYSIS_SAMPLES_H
#define POV_ANALYSIS_SAMPLES_H

#include "analysis/windows.h"
#include "lib/map.h"
#include "model/model.h"

/*
 * The stacks of samples as one tree: a place in the code, below the place that called it. A sample
 * without callers (record without --stacks) is a place of its own.
 */

struct call_path {
	/* where the thread was; for a caller, the address after its call */
	struct model_site at;
	/*
	 * the caller; NULL: none, or not recorded; `cut` of struct call_paths: it could not be
	 * found
	 */
	const struct call_path *by;
	uint32_t id; /* from 1 on, in the order of first use; 0: cut */
	bool calls;  /* `at` is in a caller */
	struct call_path *next;
};

/* A zeroed struct is empty. It must not move while it is used. */
struct call_paths {
	struct map path; /* hash → list of struct call_path; owned */
	uint32_t cnt;
	struct call_path cut;
};

/* Valid until call_paths_release(). */
const struct call_path *call_path_of(struct call_paths *c, const struct model_sample *s);
void call_paths_release(struct call_paths *c);

struct sites;
/* The name of the innermost place; NULL: unknown. */
const struct site_name *call_path_name(struct sites *sites, const struct call_path *p);

/* The samples of a thread in one place, called in one way. */
struct samples_at {
	uint32_t thread; /* index for model_thread_get() */
	const struct call_path *path;
	uint64_t samples;
};

struct samples {
	struct model_sink sink; /* adds the samples that count (sample_counts) */
	const struct windows *windows;
	struct call_paths paths;
	struct map at; /* thread and path → struct samples_at; owned */
};

void samples_init(struct samples *s, const struct windows *w);
void samples_release(struct samples *s);
/* True if a sample shows where a rank computes. */
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
	uint64_t samples, of; /* samples in the function; all samples of the threads */
	uint64_t called;      /* part of samples: in libraries that the function called */
};

/*
 * The function in which threads had most samples. With `other` threads, it is the function with the
 * largest excess over the mean of these.
 */
struct samples_function samples_most(const struct samples *s, struct sites *sites,
				     const uint32_t *thread, uint32_t threads,
				     const uint32_t *other, uint32_t others);
/*
 * All functions of the processes chosen (by index), most samples first; *n: their number. A row
 * without a name sums the samples in a file's unknown functions. A row without a module sums those
 * in no file. Caller frees.
 */
struct samples_function *samples_functions(const struct samples *s, const struct model *m,
					   struct sites *sites, const bool *chosen, uint32_t *n);

/* How many samples of a process's threads are in an OpenMP runtime, where they wait for others. */
struct samples_waiting {
	uint64_t samples, of; /* samples in the runtime; all samples */
	const char *file;     /* name of the runtime's file; NULL: no sample is in one */
};

/*
 * Counts the samples of a rank's main thread (index) or, with `all`, of all the rank's threads.
 * Returns zeros if the runtime's other threads hardly computed: then the main thread waits for
 * nobody.
 */
struct samples_waiting samples_in_openmp(const struct samples *s, const struct model *m,
					 uint32_t main_thread, bool all);

struct json_out;
/* Writes the function as members of the open object. */
void samples_function_json(struct json_out *j, const struct samples_function *f);

/*
 * Why ranks' threads slept outside MPI, while their process used MPI (windows.h): by the kernel's
 * task state, and by who woke them. Sleeps in MPI calls do not count.
 */

enum sleep_kind {
	SLEEP_UNKNOWN,	     /* who woke it was not recorded */
	SLEEP_DEVICE,	     /* uninterruptible: file I/O, paging */
	SLEEP_STOPPED,	     /* stopped by a signal or a debugger */
	SLEEP_OWN_THREAD,    /* woken by a thread of its process */
	SLEEP_OTHER_PROCESS, /* woken by another process */
	SLEEP_INTERRUPT,     /* woken by a timer or a device */
	SLEEP_POLLING,	     /* woken by a timer or a device, between two polls */
	SLEEP_KINDS,
};

extern const char *const sleep_names[SLEEP_KINDS]; /* names in JSON; NULL for SLEEP_UNKNOWN */

struct sleeps_thread;

struct sleeps {
	struct model_sink sink;
	const struct windows *windows;
	struct sleeps_thread *thread; /* by thread idx; owned */
	uint32_t nthread;
};

void sleeps_init(struct sleeps *a, const struct windows *w);
void sleeps_release(struct sleeps *a);
/*
 * The kind of sleep that took most of a thread's time asleep; *ns: that time. SLEEP_UNKNOWN unless
 * it is at least half of all_ns.
 */
enum sleep_kind sleeps_mostly(const struct sleeps *a, uint32_t thread, uint64_t all_ns,
			      uint64_t *ns);

#endif
