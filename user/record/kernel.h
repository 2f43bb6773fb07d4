/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The kernel half as the collector holds it: configured, loaded, its programs attached by what the kernel
 * can do, its maps at hand. Does not know what a library or a target is.
 */
#ifndef POV_RECORD_KERNEL_H
#define POV_RECORD_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/config.h"
#include "target/features.h"
#include "target/probes/links.h"
#include "record/kernel_functions.h"
#include "record/yield_pages.h"

struct bpf_link;
struct povtrace;

struct kernel_options {
	enum pov_sched_mode sched;
	bool irq, all;
	bool regions;	 /* functions that are regions are looked for */
	bool notes;	 /* static probes are looked for */
	bool each;	 /* processes get probes of their own */
	bool perf_links; /* perf-event uprobes even where uprobe_multi works */
	uint64_t spin_gap_ns;
	uint64_t ring_bytes; /* of one ring, rounded up to a power of two of pages; 0 = chosen here */
	unsigned int cpus_per_ring; /* 0 = chosen here */
	const struct pov_fn *fns;   /* recipes by row of the function table */
	uint32_t fn_cnt;
	const bool *wanted; /* rows of the function table */
	bool preload;	    /* some threads' calls are recorded in their process */
};

struct kernel {
	struct povtrace *skel;
	struct features features;
	struct bpf_link **link; /* tasks, mappings, scheduler */
	size_t link_cnt;
	struct kernel_functions functions;
	unsigned int rings; /* CPU-group rings; the rescue ring is number `rings` */
	unsigned int cpus_per_ring;
	uint64_t ring_bytes;
	int ring_fd[POV_RINGS_MAX];
	struct yield_pages yield;
	int control_fd, targets_fd, files_fd, paths_fd, answered_fd, waiting_fd, libs_fd,
		handovers_fd, notes_fd, preloaded_fd, preload_loaded_fd, fns_fd, slots_fd;
	int note_fd; /* program at static probes; -1: none are looked for */
	/* Programs by which threads wait; -1: not on this kernel. */
	int loader_fd, exec_fd, handover_fd;
	int bindings_fd;
	struct pov_step *binding_steps; /* POV_STEPS */
	uint64_t *bindings_changes;
	const volatile uint64_t *counters; /* POV_COUNT_* */
	volatile uint64_t *drops;	   /* POV_DROPS words */
	uint64_t *calls_until_too; /* where else it is to be said when the recording of calls ends, or NULL */
	uint64_t recursions;	       /* before the recording */
	struct link_programs programs; /* for library probes, */
	int returns_fd;		       /* program at return instructions */
	struct link_programs regions;  /* for regions … */
	struct leftover_probes leftover; /* … and what they leave; kernel_release takes care of it */
};

/* Before libbpf is used: what it says goes to the log, and as many files may be open as can be. */
void kernel_prepare(void);
/* 0, or -errno after telling what command `command` needs that is not there. */
int kernel_check(const char *command, const struct features *f);
/* Loads; attaches nothing. 0 or -errno (printed). kernel_release in any case. */
int kernel_load(const struct kernel_options *opt, struct kernel *k);
/* Attaches identity, images, functions of the kernel and scheduler. What is not to be had is said and left out. */
int kernel_attach(struct kernel *k);
/* Takes over a link, which ends with the recording. */
void kernel_keep(struct kernel *k, struct bpf_link *link);
/*
 * Ends the recording of calls at one moment for all CPUs and returns it. What began before and has returned by then
 * is in the rings, what has not is open; no program changes a thread's calls any more, but for the thread's own end.
 * The probes may stay as long as they like.
 */
uint64_t kernel_calls_end(struct kernel *k);
/* The collector lives (to be said every few milliseconds), or nobody needs to wait for it any more. */
void kernel_say_alive(struct kernel *k, bool alive);
void kernel_detach(struct kernel *k);
void kernel_release(struct kernel *k);

/* Times a program was not run because one was at work on that CPU already: what it would have told is missing. */
uint64_t kernel_recursions(const struct kernel *k);
/* Forgets what has been counted so far. */
void kernel_reset_counters(struct kernel *k);
int kernel_add_target(struct kernel *k, uint32_t tgid);
/* Calls fn for each thread that exists, with a struct pov_task of kind TASK. 0 or -errno. */
int kernel_snapshot(struct kernel *k, void (*fn)(void *ctx, const void *task), void *ctx);
/* Calls fn with the struct pov_written of each thread of a target that wrote, and of all first threads. 0 or -errno. */
int kernel_written(struct kernel *k, void (*fn)(void *ctx, const void *written), void *ctx);
/* Calls fn with the struct pov_regs of each thread of a target that is on no CPU (x86-64). 0 or -errno. */
int kernel_thread_regs(struct kernel *k, void (*fn)(void *ctx, const void *regs), void *ctx);
/* Calls fn with the struct pov_thread of each thread that has calls or a spin open. 0 or -errno. */
int kernel_dump_threads(struct kernel *k, void (*fn)(void *ctx, const void *thread), void *ctx);
/*
 * A thread's state as it is now, if it has one that is found by its number; it may be changing meanwhile. 0 or -errno. out: a
 * struct pov_thread.
 */
int kernel_read_thread(const struct kernel *k, uint32_t tid, void *out);
uint64_t kernel_now_ns(void); /* CLOCK_MONOTONIC */

#endif
