/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by the session's parts: session.c (the order of a recording) and session_*.c, each with a
 * section below. No other file includes it.
 */
#ifndef POV_RECORD_SESSION_PRIV_H
#define POV_RECORD_SESSION_PRIV_H

#include "abi/event.h"
#include "record/launch/launch.h"
#include "record/probes/calibrate.h"
#include "record/samples.h"
#include "record/drops.h"
#include "record/images.h"
#include "record/kernel.h"
#include "record/preload/preload.h"
#include "record/session.h"
#include "record/overhead.h"

struct layer;
struct ring_buffer;
struct session_keep;
struct session;
struct session_throttle;
struct session_stack;

struct ring_ctx {
	struct session *s;
	unsigned int stream;
};

struct session {
	const struct session_options *opt;
	struct session_result *res;
	struct kernel kernel;
	struct pov_fn *fns;
	bool *wanted;
	/* by row: functions that may be throttled; NULL: none, because there is no limit */
	bool *may_throttle;
	struct images *images;
	struct trace_writer *writer;
	struct ring_buffer *rings;
	struct ring_ctx ring_ctx[POV_RINGS_MAX + 1];
	/* library that the command's processes load; NULL: none; owned */
	char *preload_library;
	/* processes only wait, because there is no memory for their records */
	bool preload_only_waits;
	struct session_keep *keep; /* NULL: not a --last recording */
	struct preload *preload;   /* NULL: all calls are recorded by probes */
	struct launch_plan plan;   /* for the command; with preload we own its environment */
	struct launch launch;
	int launch_fd; /* pidfd of the command, readable when it has ended; -1: none */
	struct drops drops;
	struct calibration calibration;
	struct probe_cost cost;
	struct overhead overhead;
	struct session_throttle *throttle; /* NULL: no limit */
	struct session_stack *stack;	   /* NULL: stacks are not searched for calls */
	struct callers *callers;	   /* NULL: samples have none */
	uint64_t start_ns, sampled_ns, shown_ns;
	uint64_t loop_ns;      /* when the setup was complete */
	uint64_t end_ns;       /* once set: later records do not belong to the recording */
	uint64_t cpu_begun_ns; /* own CPU time when the loop began */
	uint64_t cpu_over_ns;  /* own CPU time when the loop ended */
	bool preload_full;     /* processes' rings fill fast */
	bool calm;	       /* records are few */
	bool discard;	       /* drop records: they are the calibration's */
	uint64_t seen;	       /* number of records */
	uint64_t sampled_seen; /* number of records at sampled_ns */
	uint64_t refused;      /* records refused by the writer: full disk or size limit */
	int err;	       /* first error of the writer */
	int nice, usual_nice;  /* this thread's priority, now and before the recording */
	bool useless;	       /* nothing was recorded: remove the file */
};

/* ---- session_meta.c: failures to write stick in session.err ---- */

/* Returns true if any function of a layer was chosen. */
bool session_records_layer(const struct session *s, const struct layer *layer);
/* Writes the recording's configuration, host and layers, before any record. */
void session_meta_begin(struct session *s);
/* Writes which kernel functions are recorded, if any. */
void session_meta_kernel(struct session *s);
/* Writes that a running process is recorded from now on. */
void session_meta_target(struct session *s, pid_t pid);
/* Does the same for the launched command. */
void session_meta_command(struct session *s);
/*
 * Writes why the recording ended and what is missing from it. Fills the result's own_cpu_ns, stored
 * and unstored.
 */
void session_meta_end(struct session *s);

/* The end of a file's contents. */
struct session_over {
	uint64_t ts_ns;
	const char *reason;
	const struct trace_tally *stored;
	uint64_t own_cpu_before_ns; /* own CPU time used before the file's contents */
	uint64_t recursions_before; /* recursions counted before the file's contents */
	json_t *more;		    /* more members for the object "end", taken over; or NULL */
};
void session_meta_over(struct session *s, const struct session_over *over);
/*
 * Writes the configuration of a file that begins at begin_ns. kept describes it as a part of a
 * longer recording; it is taken over, or NULL.
 */
void session_meta_recording(struct session *s, uint64_t begin_ns, json_t *kept);

/* Fills the result's stored and unstored. Data not yet written counts as if it were in the file. */
void session_stored_count(struct session *s);
/* Returns the CPU time of this process and its helper. */
uint64_t session_own_cpu_ns(const struct session *s);

/* ---- session_rings.c ---- */

/* Returns true for counts of the calibration's process, which arrive only when it ends. */
bool session_is_calibration(const struct pov_hdr *rec);
/* Stores a record unless it is later than end_ns. */
void session_record(struct session *s, unsigned int stream, const struct pov_hdr *rec);
/* Handles a record of the control ring: who exists, and what they map. */
void session_control(struct session *s, const struct pov_hdr *rec);
/* Maps the rings. 0 or -errno (printed). */
int session_rings_open(struct session *s);
/* True if a ring of the kernel half is so full that records may be lost soon. */
bool session_rings_press(struct session *s);
/*
 * Moves records from the rings and handles the helper's replies. Waits some ms until there are any.
 * 1 if the command has ended, 0, or -errno.
 */
int session_rings_poll(struct session *s);

/* ---- session.c, for the others ---- */

/* Reads the rings and the counts of losses. */
void session_take(struct session *s);
/* Records the existing tasks: all, or those of current targets (by session_options.sched). */
int session_snapshot(struct session *s);

/* ---- session_targets.c ---- */

/*
 * Checks that the processes to attach to exist. Call it before anything is loaded or created. 0,
 * -ESRCH or -EBUSY (printed).
 */
int session_targets_check(const struct session_options *o);
/*
 * Checks that probes may be put into all processes: no process may have functions that begin with
 * jumps. 0 or -EBUSY (printed).
 */
int session_targets_check_all(const struct session_options *o);
/* Makes the processes targets, and has their files inspected. 0 or -errno (printed). */
int session_targets_find(struct session *s);
/*
 * Makes a process a target that is running already, and has its files inspected. Returns at once;
 * see images_answered. 0 or -errno.
 */
int session_targets_adopt(struct session *s, pid_t pid);
/* Fills the result's left and left_cnt, once no probe is attached any more. */
void session_targets_left(struct session *s);

/* ---- session_keep.c: recordings with --last; no-ops in others ---- */

void session_keep_open(struct session *s);
/* Begins the first segment, with the recording. Call it before any record. */
void session_keep_begin(struct session *s);
/* Looks at a record before it is stored. */
void session_keep_record(struct session *s, const struct pov_hdr *rec);
/* Returns true if calls of the function (row) may trigger a file. */
bool session_keep_watches(const struct session *s, size_t func);
/* Does regular work: begins segments, and writes requested files. */
void session_keep_work(struct session *s, uint64_t now_ns);
/* Writes what the last file needs besides the records. */
void session_keep_end(struct session *s);
void session_keep_release(struct session *s);

/* ---- session_stack.c: calls that began before their process was attached to ---- */

/* Searches the stacks of processes that were attached to. Call it before kernel_calls_end. */
void session_stack_find(struct session *s);
/* Notes an open call whose begin was recorded. */
void session_stack_seen(struct session *s, const struct pov_hdr *open);
/* Notes threads whose calls probes have seen begin: their open calls began while recording. */
void session_stack_identity(struct session *s, const struct pov_hdr *rec);
/*
 * Records the calls that were found on stacks, for threads whose calls no probe has seen begin.
 * Call it after session_stack_seen.
 */
void session_stack_write(struct session *s);
void session_stack_release(struct session *s);

/* ---- probes/throttle.c: the limit on the cost of tracing, if there is one ---- */

/* Chooses the functions that may be throttled, before anything is attached. */
void session_throttle_prepare(struct session *s);
/*
 * Records the state of each throttled function up to ts_ns, where the file being made ends. Skips
 * functions whose state is already recorded up to then.
 */
void session_throttle_write(struct session *s, uint64_t ts_ns);
/* Starts the limit. Call it once the costs are known. */
void session_throttle_start(struct session *s);
/* Call this every few hundred milliseconds or more often. */
void session_throttle_tick(struct session *s, uint64_t now_ns);
/* Call this after kernel_calls_end. */
void session_throttle_end(struct session *s);
void session_throttle_release(struct session *s);

/* ---- session_preload.c: processes that record their own calls, if there are any ---- */

/* Decides whether processes record their own calls. 0 or -errno (printed). */
int session_preload_choose(struct session *s);
/*
 * Opens the socket for the command's threads, and makes the command load the library. 0 or -errno
 * (printed).
 */
int session_preload_open(struct session *s);
/* Returns true if processes record their calls, false if they only wait for probes. */
bool session_preload_records(const struct session *s);
/* List the descriptors to poll (like preload_poll), and handle the result. */
unsigned int session_preload_polled(const struct session *s, struct pollfd *out);
void session_preload_work(struct session *s, const struct pollfd *polled, unsigned int cnt);
/* Returns true if a process's ring is rather full. */
bool session_preload_fills(const struct session *s);
void session_preload_take(struct session *s);
/*
 * Handles an identity record of the kernel half: a thread's end before images_control, others after
 * it.
 */
void session_preload_identity(struct session *s, const struct pov_hdr *rec);
/* Updates the cost of a call, once some threads have measured it. */
void session_preload_cost(struct session *s);
/* Writes what the threads have counted until now. */
void session_preload_count(struct session *s, uint64_t now_ns);
/* Call this after kernel_calls_end. */
void session_preload_end(struct session *s);
void session_preload_release(struct session *s);

#endif
