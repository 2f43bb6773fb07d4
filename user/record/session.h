/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One recording from start to end: loads the kernel half, finds targets, moves records from the
 * rings into the trace file, and finishes the file. It decodes nothing.
 */
#ifndef POV_RECORD_SESSION_H
#define POV_RECORD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/config.h"
#include "lib/distortion.h"
#include "trace/trace_write.h"

struct launch_plan;
struct person;
struct trigger_when;

/* Options of a recording that keeps only the newest part. */
struct keep_options {
	uint64_t span_ns, bytes;	 /* how much to keep; one of them is 0 */
	const struct trigger_when *when; /* record/flight/dump_requests.h */
	size_t when_cnt;
	/* counter of requests to write what is kept; a signal handler increments it */
	const volatile int *asked;
};

/* How the command's MPI calls are recorded: by its processes themselves, or by probes. */
enum session_preload {
	SESSION_PRELOAD_NO,
	SESSION_PRELOAD_MAY,  /* by the processes if possible */
	SESSION_PRELOAD_MUST, /* by the processes; else it is an error */
};

struct session_options {
	const char *path;		  /* path of the .pov file */
	int fd;				  /* > 0: the file, already open (trace_writer_options) */
	const struct launch_plan *launch; /* the command to launch, or NULL */
	const pid_t *pids;		  /* running processes to attach to */
	size_t pid_cnt;
	bool all;		   /* every MPI process of the node */
	const bool *recorded;	   /* by row of the function table */
	const bool *named;	   /* by row: explicitly named by the user */
	const char *const *region; /* names of region_cnt functions that are regions */
	size_t region_cnt;
	const char *groups, *layers; /* the user's options, for the trace's metadata; or NULL */
	enum pov_sched_mode sched;
	bool irq;
	bool stacks; /* samples have the callers of their functions */
	bool perf_links;
	enum session_preload preload;
	/* limit for the cost of probes, in percent of a process's time; 0: none */
	double max_overhead_pct;
	bool max_overhead_all; /* the limit includes processes that record their own calls */
	uint64_t spin_gap_ns;
	uint64_t ring_bytes;		 /* 0: chosen by the number of CPUs */
	unsigned int cpus_per_ring;	 /* 0: chosen by the number of CPUs */
	uint64_t duration_ns;		 /* 0: until the targets end or a signal comes */
	uint64_t max_bytes;		 /* of the file; 0: no limit */
	const struct keep_options *keep; /* NULL: records are written as they come */
	/* the user who creates and owns the file; NULL: our own user */
	const struct person *owner;
	char *const *argv; /* the command, for the trace; ends with NULL */
	bool progress;	   /* print a line on stderr once a second */
};

#define SESSION_LEFT_MAX 3 /* how many still running processes are named */

struct session_result {
	struct trace_tally stored; /* records in the file */
	/* records not written because the disk was full or the size limit reached */
	uint64_t unstored;
	uint64_t lost; /* records for which rings had no room */
	/* the part of lost that is calls of threads without a ring (struct preload_counts) */
	uint64_t no_area;
	uint64_t unprobed; /* libraries in processes that were not recorded; already printed */
	uint64_t open_calls, file_bytes;
	uint32_t ranks;
	bool found_mpi; /* an MPI library could be recorded, whether or not ranks called it */
	uint64_t wall_ns, own_cpu_ns;
	struct distortion distortion; /* cost of tracing for the rank with the highest cost */
	char throttled[512];	      /* message that functions were throttled; "": none were */
	int child_status; /* wait(2) status of the command; -1 if none or still running */
	pid_t child_pid;  /* the command if it is still running, else 0 */
	/* recorded processes that are still running after the command has ended */
	uint32_t left_cnt;
	/* some of these processes: those whose parent is not one of them; 0 ends the list */
	pid_t left[SESSION_LEFT_MAX];
	const char *reason; /* why the recording ended */
};

/*
 * Runs the recording. Signal handlers set *stop, which ends it in order. 0, or -errno (printed);
 * even then the file is complete and has what was recorded until then. *out is always filled.
 */
int session_run(const struct session_options *opt, const volatile int *stop,
		struct session_result *out);

#endif
