/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The collector's side of recording without probes. Launched programs load a library through
 * LD_PRELOAD (user/preload/). Its threads ask the collector for memory to which they write their
 * calls (abi/preload.h). The memory is ours, so records survive the process. Nothing in it is
 * trusted: every record is bounded and checked, and counts for the thread that the memory was given
 * to.
 */
#ifndef POV_RECORD_PRELOAD_PRELOAD_H
#define POV_RECORD_PRELOAD_PRELOAD_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/config.h"
#include "abi/preload.h"
#include "target/code_file.h"

struct launch_plan;
struct kernel;
struct pov_fn;
struct pov_hdr;
struct preload;

struct preload_options {
	const char *library; /* from preload_library_find */
	/*
	 * true: processes record their calls. false: they only wait until the files that they have
	 * mapped are inspected
	 */
	bool records;
	struct kernel *kernel;	  /* borrowed, loaded */
	const struct pov_fn *fns; /* recipes by row of the function table; copied */
	const bool *wanted;	  /* by row; true: recorded or learned from; copied */
	uint64_t spin_gap_ns;
	/*
	 * Receives each checked record, and records that the kernel half would otherwise make (a
	 * thread's first call).
	 */
	void (*record)(void *ctx, const struct pov_hdr *rec);
	/* Returns true if all files that a process has mapped are inspected. */
	bool (*settled)(void *ctx, pid_t pid);
	/*
	 * A process is about to execute a program that will not wait by itself. The process waits
	 * until `settled`.
	 */
	void (*program)(void *ctx, pid_t pid, const char *path);
	/* Calls fn for each traced library of a process. */
	void (*libraries)(void *ctx, pid_t pid, library_place_fn *fn, void *fn_ctx);
	/* Like bindings_get. */
	void (*bindings)(void *ctx, pid_t pid, struct pov_bindings *out, struct pov_step *step);
	/*
	 * A process cannot record these functions itself, so they need probes. The process waits
	 * until `settled`. Returns the number of those that were not requested before.
	 */
	size_t (*unserved)(void *ctx, pid_t pid, const struct library *lib, const uint16_t *row,
			   size_t cnt);
	/* Another recording records a process's calls. */
	void (*taken)(void *ctx, pid_t pid);
	/*
	 * A daemon has started a process of the command, which becomes a target. The process waits
	 * until `settled`. 0 or -errno.
	 */
	int (*adopt)(void *ctx, pid_t pid);
	uid_t uid; /* of the command: processes of others are not adopted */
	void *ctx;
};

/* Sums of what threads have counted. */
struct preload_counts {
	uint64_t lost[POV_CLASS_CNT], miss[POV_MISS_CNT];
	/* the part of lost that is calls of threads that got no memory for their records */
	uint64_t no_area;
	uint64_t folded, waits_ns;
	/*
	 * Times in ps to record a call, to count a call, and to record a brief call, made many
	 * times in a row; hot_ps: the parts of them that are sampled below. Sums over the cost_cnt
	 * threads that measured them.
	 */
	uint64_t cost_ps, counted_ps, brief_ps, hot_ps[POV_HALF_CNT];
	uint32_t cost_cnt;
	/* times of the same parts in a sample of all calls, as the program made them */
	uint64_t sample_ns[POV_HALF_CNT], sample_cnt[POV_HALF_CNT];
};

/*
 * Returns the path of the library that a command's processes load. NULL: the command's user cannot
 * use it; *problem is the reason. The caller frees both.
 */
char *preload_library_find(const struct launch_plan *plan, char **problem);

/* Returns true if another recorder has launched us, and so records what we launch, too. */
bool preload_is_recorded(void);
/* 0 or -errno (printed). */
int preload_open(const struct preload_options *opt, struct preload **out);
/*
 * Returns the command's environment with the library added. Free it with launch_env_free, like that
 * of launch_env_make.
 */
char **preload_environment(const struct preload *p, const struct launch_plan *plan);

#define PRELOAD_POLLED 66
/*
 * preload_poll lists the descriptors to poll, at most PRELOAD_POLLED. Pass the result to
 * preload_work.
 */
unsigned int preload_poll(const struct preload *p, struct pollfd *out);
void preload_work(struct preload *p, const struct pollfd *polled, unsigned int cnt);
/*
 * Tells processes that the collector is alive, or (false) that they need not wait for it any more.
 */
void preload_say_alive(struct preload *p, bool alive);

/* Returns true if a ring is rather full. Costs a few ns per thread. */
bool preload_fills(const struct preload *p);
/* Reads all rings. True: one was so full that the caller should call this again soon. */
bool preload_consume(struct preload *p);
/*
 * Handles an identity record of the kernel half (begin or end of a thread, exec): reads the records
 * of the threads that end, and frees their memory.
 */
void preload_identity(struct preload *p, const struct pov_hdr *rec);
/*
 * Passes open calls and spins to fn, ended at end_ns. The result is exact after kernel_calls_end;
 * while threads run it is a snapshot. Returns the number of calls.
 */
uint64_t preload_open_calls(struct preload *p, uint64_t end_ns,
			    void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx);

/*
 * From now on calls of a function (row of the function table) are only counted, or with left_out
 * not recorded at all.
 */
void preload_function_set(struct preload *p, uint32_t row, bool counted, bool left_out);

/* Sums up the counts of all threads so far. */
void preload_counts_get(const struct preload *p, struct preload_counts *out);
/*
 * Return the number of threads that got memory so far, and how many of them wrote invalid records.
 */
uint32_t preload_thread_cnt(const struct preload *p);
uint32_t preload_damaged_cnt(const struct preload *p);
/*
 * Returns the number of functions that processes could not redirect by a jump, and that got probes.
 */
uint32_t preload_missed_cnt(const struct preload *p);
/* Stops listening, so that no process waits for an answer. Part of preload_close. */
void preload_refuse(struct preload *p);
void preload_close(struct preload *p);

#endif
