/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One recording from start to end: loads the kernel half, finds targets, moves records from the rings into
 * the trace file, and closes it in order. Decodes nothing.
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

/* Of a recording of which only the newest part is kept. */
struct keep_options {
	uint64_t span_ns, bytes;	 /* how much; one of them is 0 */
	const struct trigger_when *when; /* record/flight/trigger.h */
	size_t when_cnt;
	const volatile int
		*asked; /* counts how often it is to be written, as a signal handler does */
};

/* Whether the command's processes are to record their MPI calls themselves, without probes. */
enum session_preload {
	SESSION_PRELOAD_NO,
	SESSION_PRELOAD_MAY,  /* if they can be served */
	SESSION_PRELOAD_MUST, /* it is an error if they cannot */
};

struct session_options {
	const char *path;		  /* of the .pov file */
	int fd;				  /* > 0: of it, open already (trace_writer_options) */
	const struct launch_plan *launch; /* of the command, or NULL */
	const pid_t *pids;		  /* running processes to attach to */
	size_t pid_cnt;
	bool all;		   /* every MPI process of the node */
	const bool *recorded;	   /* by row of the function table */
	const bool *named;	   /* the same: by more than the default */
	const char *const *region; /* names of functions that are regions, region_cnt of them */
	size_t region_cnt;
	const char *groups, *layers; /* as asked for, for the trace's configuration; or NULL */
	enum pov_sched_mode sched;
	bool irq;
	bool perf_links;
	enum session_preload preload;
	double max_overhead_pct; /* that probes may cost a process, of its time; 0: no limit */
	bool max_overhead_all;	 /* and what it spends on recording its calls itself */
	uint64_t spin_gap_ns;
	uint64_t ring_bytes; /* 0 = chosen by the number of CPUs, like the next */
	unsigned int cpus_per_ring;
	uint64_t duration_ns;		 /* 0 = until the targets end or a signal comes */
	uint64_t max_bytes;		 /* of the file; 0 = no limit */
	const struct keep_options *keep; /* NULL: all is written at once */
	const struct person *owner;	 /* of the file, and who creates it; NULL: the caller */
	char *const *argv;		 /* of the command, for the trace; ends with NULL */
	bool progress;			 /* a line on stderr, once a second */
};

#define SESSION_LEFT_MAX 3 /* processes named of those that go on */

struct session_result {
	struct trace_tally stored; /* in the file */
	uint64_t unstored; /* records that were seen, but not written: disk full, or the size limit */
	uint64_t lost;	   /* records that rings had no room for, and … */
	uint64_t no_area; /* … of these, calls of threads that had no ring (struct preload_counts) */
	uint64_t open_calls, file_bytes;
	uint32_t ranks;
	uint64_t wall_ns, own_cpu_ns;
	struct distortion distortion; /* what tracing cost the rank that it cost most */
	char limited[512];	      /* what became of functions by the limit; "": nothing */
	char exceeded[256];	      /* by how much it was exceeded all the same; "": it was not */
	int child_status;  /* wait(2) status of the command; -1 if none or still running */
	pid_t child_pid;   /* of the command if it still runs, else 0 */
	uint32_t left_cnt; /* recorded processes that go on, if the command does not */
	pid_t left[SESSION_LEFT_MAX]; /* some that no other of these has started; then 0 */
	const char *reason;	      /* why it ended */
};

/*
 * Runs the recording. *stop is set by signal handlers: end in order. 0, or -errno (printed);
 * what was recorded until then is in the file all the same, which is whole. *out is always filled.
 */
int session_run(const struct session_options *opt, const volatile int *stop,
		struct session_result *out);

#endif
