/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The collector's handle of the kernel half: configures and loads the BPF programs, attaches them
 * as this kernel allows, and gives access to their maps. It knows nothing about libraries and
 * targets.
 */
#ifndef POV_RECORD_KERNEL_H
#define POV_RECORD_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/config.h"
#include "target/features.h"
#include "target/late_program.h"
#include "target/probes/links.h"
#include "record/kernel_functions.h"

struct bpf_link;
struct bpf_program;
struct povtrace;

struct kernel_options {
	enum pov_sched_mode sched;
	bool irq, all;
	bool stacks;	 /* samples have stacks */
	bool regions;	 /* probe functions that are regions */
	bool notes;	 /* attach to static probes */
	bool handovers;	 /* libraries may be handed functions at run time (library_kind.h) */
	bool each;	 /* each process gets its own probes */
	bool perf_links; /* use perf-event uprobes even where uprobe_multi works */
	uint64_t spin_gap_ns;
	/* of one ring, rounded up to a power of two of pages; 0: chosen here */
	uint64_t ring_bytes;
	unsigned int cpus_per_ring; /* 0: chosen here */
	const struct pov_fn *fns;   /* recipes by row of the function table */
	uint32_t fn_cnt;
	const bool *wanted; /* rows of the function table */
	bool preload;	    /* some processes record their own calls */
};

/*
 * An arena: memory that BPF programs share with this process (Linux 6.9). Threads that wait in the
 * kernel yield their CPU by freeing its pages (bpf/image.bpf.c). Without an arena they yield in a
 * way that costs more.
 */
struct yield_pages {
	/*
	 * POV_YIELD_PAGES pages, of which only the last one is allocated. NULL: this kernel, or its
	 * JIT compiler, has no arenas.
	 */
	char *at;
	int fd; /* the map, if it is mapped */
};

struct kernel {
	struct povtrace *skel;
	struct features features;
	struct bpf_link **link; /* for tasks, mappings and the scheduler */
	size_t link_cnt;
	struct kernel_functions functions;
	unsigned int rings; /* rings of CPU groups; the rescue ring has number `rings` */
	unsigned int cpus_per_ring;
	uint64_t ring_bytes;
	int ring_fd[POV_RINGS_MAX];
	struct yield_pages yield;
	int control_fd, targets_fd, files_fd, paths_fd, asked_fd, answered_fd, waiting_fd, libs_fd,
		handovers_fd, notes_fd, preloaded_fd, preload_loaded_fd, fns_fd;
	int note_fd; /* program for static probes; -1: they are not used */
	/* Programs that make threads wait; -1: this kernel cannot, or none is needed. */
	int loader_fd, exec_fd, handover_fd;
	int bindings_fd;
	struct pov_step *binding_steps; /* POV_STEPS */
	uint64_t *bindings_changes;
	const volatile uint64_t *counters; /* POV_COUNT_* */
	volatile uint64_t *drops;	   /* POV_DROPS words */
	uint64_t *calls_until_too; /* second place for the end of the recording of calls, or NULL */
	uint64_t recursions;	   /* counted before the recording */
	struct link_programs programs; /* for library probes */
	struct late_program *returns;  /* program at return instructions */
	struct link_programs regions;  /* for regions */
	/* probes that are still to be removed; kernel_release takes care of them */
	struct leftover_probes leftover;
};

/*
 * Call this before any use of libbpf. Sends libbpf's messages to the log and raises the limit on
 * open files.
 */
void kernel_prepare(void);
/* Checks what the command needs. 0, or -errno after printing what is missing. */
int kernel_check(const char *command, const struct features *f);
/*
 * Loads the BPF programs and attaches nothing. 0 or -errno (printed). Call kernel_release in both
 * cases.
 */
int kernel_load(const struct kernel_options *opt, struct kernel *k);
/*
 * Attaches the programs for identity, images, kernel functions and the scheduler. Prints and leaves
 * out what this kernel does not have.
 */
int kernel_attach(struct kernel *k);
/* Takes over a link and closes it at the end of the recording. */
void kernel_keep(struct kernel *k, struct bpf_link *link);
/*
 * Attaches a program; *out is NULL if it is not loaded. 0, or -errno, printed with `before` in
 * front of the message.
 */
int kernel_program_attach(const char *before, struct bpf_program *prog, struct bpf_link **out);
/* Returns the kernel half's counter of links that are being exchanged (bpf/core.bpf.h). */
uint64_t *kernel_exchanges(struct kernel *k);
/*
 * Ends the recording of calls at one moment for all CPUs and returns this moment. Calls that have
 * returned by then are in the rings; other calls are open. After that no program changes a thread's
 * calls, except when the thread ends. The probes may stay attached as long as needed.
 */
uint64_t kernel_calls_end(struct kernel *k);
/*
 * Tells waiting processes that the collector is alive (call it every few milliseconds), or that
 * they need not wait any more.
 */
void kernel_say_alive(struct kernel *k, bool alive);
void kernel_detach(struct kernel *k);
void kernel_release(struct kernel *k);

/*
 * Returns how often a program was not run because another one was active on the CPU. Each time an
 * event is missing.
 */
uint64_t kernel_recursions(const struct kernel *k);
/* Resets all counters. */
void kernel_reset_counters(struct kernel *k);
int kernel_add_target(struct kernel *k, uint32_t tgid);
/* Returns true if the process is a target and any of its threads lives. */
bool kernel_target_lives(const struct kernel *k, uint32_t tgid);
/* Calls fn for each existing thread, with a struct pov_task of kind TASK. 0 or -errno. */
int kernel_snapshot(struct kernel *k, void (*fn)(void *ctx, const void *task), void *ctx);
/*
 * Calls fn with the struct pov_written of each thread of a target that wrote, and of all main
 * threads. 0 or -errno.
 */
int kernel_written(struct kernel *k, void (*fn)(void *ctx, const void *written), void *ctx);
/*
 * Calls fn with the struct pov_regs of each thread of a target that is on no CPU (x86-64). 0 or
 * -errno.
 */
int kernel_thread_regs(struct kernel *k, void (*fn)(void *ctx, const void *regs), void *ctx);
/*
 * Calls fn with the struct pov_thread of each thread with open calls or an open spin. 0 or -errno.
 */
int kernel_dump_threads(struct kernel *k, void (*fn)(void *ctx, const void *thread), void *ctx);

/* Makes an arena and tries it. Prints nothing. Call yield_pages_release in any case. */
void yield_pages_make(struct yield_pages *y);
void yield_pages_release(struct yield_pages *y);

#endif
