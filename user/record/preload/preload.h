/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The collector's side of recording without probes: launched programs are given a library by LD_PRELOAD (user/preload/), whose threads ask
 * here for memory to write their calls to (abi/preload.h). The memory is ours, so that what was written stays whatever becomes of the
 * process; and nothing in it is believed: every record is bounded and checked, and speaks for the thread that the memory was given to.
 */
#ifndef POV_RECORD_PRELOAD_PRELOAD_H
#define POV_RECORD_PRELOAD_PRELOAD_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/config.h"

struct launch_plan;
struct kernel;
struct pov_fn;
struct pov_hdr;
struct preload;

struct library;
typedef void preload_library_fn(void *ctx, const struct library *lib, uint64_t bias);

struct preload_options {
	const char *library; /* preload_library_find */
	bool records; /* processes record their calls; or they only wait until what they have mapped has been looked at */
	struct kernel *kernel;	  /* borrowed, loaded */
	const struct pov_fn *fns; /* recipes by row of the function table, and … */
	const bool *wanted;	  /* … which are recorded or learned from; both are copied */
	uint64_t spin_gap_ns;
	/* A record, checked; or one that the collector would have from the kernel half (a thread's first call). */
	void (*record)(void *ctx, const struct pov_hdr *rec);
	/* All that a process has mapped has been looked at. */
	bool (*settled)(void *ctx, pid_t pid);
	/* A process is about to execute a program that will not wait by itself; it waits until `settled`. */
	void (*program)(void *ctx, pid_t pid, const char *path);
	/* Calls fn for each place of an MPI library in a process; bias: address there − address in the file. */
	void (*libraries)(void *ctx, pid_t pid, preload_library_fn *fn, void *fn_ctx);
	/* As bindings_get. */
	void (*bindings)(void *ctx, pid_t pid, struct pov_bindings *out, struct pov_step *step);
	/* A process cannot record functions itself: they are to get probes; it waits until `settled`. */
	void (*unserved)(void *ctx, pid_t pid, const struct library *lib, const uint16_t *row,
			 size_t cnt);
	void *ctx;
};

/* What threads counted. */
struct preload_counts {
	uint64_t lost[POV_CLASS_CNT], miss[POV_MISS_CNT];
	uint64_t no_area; /* of what is lost, calls of threads that could get no memory for their records */
	uint64_t folded, waits_ns;
	/* What recording a call costs, and counting one, in ps, by those that measured it: their sums and number. */
	uint64_t cost_ps, counted_ps, brief_ps;
	uint32_t cost_cnt;
};

/*
 * The library that a command's processes are to load, as a path; the caller frees. NULL: there is none that its user can read, as
 * *problem says; the caller frees that.
 */
char *preload_library_find(const struct launch_plan *plan, char **problem);

/* 0 or -errno (printed). */
int preload_open(const struct preload_options *opt, struct preload **out);
/* The command's environment with the library in it: as launch_env_make, freed by launch_env_free. */
char **preload_environment(const struct preload *p, const struct launch_plan *plan);

#define PRELOAD_POLLED 65
/* What to wait for, at most PRELOAD_POLLED; and what to do then. */
unsigned int preload_poll(const struct preload *p, struct pollfd *out);
void preload_work(struct preload *p, const struct pollfd *polled, unsigned int cnt);
/* The collector lives, or (false) nobody is to wait for it any more. */
void preload_say_alive(struct preload *p, bool alive);

/* Whether a ring is rather full by now: costs some ns a thread. */
bool preload_fills(const struct preload *p);
/* Takes what is in the rings. True: one was so full that it is to be done again soon. */
bool preload_consume(struct preload *p);
/* An identity record of the kernel half (a thread's begin or end, exec): what its threads have is taken, and their memory given back. */
void preload_identity(struct preload *p, const struct pov_hdr *rec);
/*
 * Hands calls and spins that are open to fn, as ended at end_ns: for good after kernel_calls_end, while their threads go on
 * as it happens to be. How many calls.
 */
uint64_t preload_open_calls(struct preload *p, uint64_t end_ns,
			    void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx);

/* What threads have gathered by now and not told yet: spins and counted calls, as if they were over. */
void preload_untold(const struct preload *p, void (*fn)(void *ctx, const struct pov_hdr *rec),
		    void *ctx);
/* From now on calls of a function, by row of the function table, are counted only; or (left_out) not recorded at all. */
void preload_function_set(struct preload *p, uint32_t row, bool counted, bool left_out);

/* Of all threads so far. */
void preload_counts_get(const struct preload *p, struct preload_counts *out);
/* Threads that had memory so far, and of these those that wrote nonsense into it. */
uint32_t preload_thread_cnt(const struct preload *p);
uint32_t preload_damaged_cnt(const struct preload *p);
/* Functions that processes could not enter by a jump of their own, and got probes for. */
uint32_t preload_missed_cnt(const struct preload *p);
void preload_close(struct preload *p);

#endif
