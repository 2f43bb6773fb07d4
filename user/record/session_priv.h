/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by the session's parts: session.c (the order of a recording) and session_*.c, of which each has a section below. Nobody
 * else includes it.
 */
#ifndef POV_RECORD_SESSION_PRIV_H
#define POV_RECORD_SESSION_PRIV_H

#include "abi/event.h"
#include "record/launch/launch.h"
#include "record/probes/calibrate.h"
#include "record/drops.h"
#include "record/images.h"
#include "record/kernel.h"
#include "record/preload/preload.h"
#include "record/session.h"
#include "record/toll.h"

struct layer;
struct ring_buffer;
struct session_keep;
struct session;
struct session_limit;
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
	bool *shed; /* by row: functions that may be given up; NULL: none, for nothing limits what tracing costs */
	struct images *images;
	struct trace_writer *writer;
	struct ring_buffer *rings;
	struct ring_ctx ring_ctx[POV_RINGS_MAX + 1];
	char *preload_library;	   /* that the command's processes are to load; NULL: none. Owned */
	bool preload_only_waits;   /* there is no memory for what they would record */
	struct session_keep *keep; /* NULL: all that is recorded is written */
	struct preload *preload;   /* NULL: all is recorded by probes */
	struct launch_plan plan;   /* of the command; its environment is ours if there is preload */
	struct launch launch;
	int launch_fd; /* pidfd of the command, -1 if none: readable when it has ended */
	struct drops drops;
	struct calibration calibration;
	struct probe_cost cost;
	struct toll toll;
	struct session_limit *limit; /* NULL: tracing may cost what it does */
	struct session_stack *stack; /* NULL: no calls are looked for on stacks */
	uint64_t start_ns, sampled_ns, shown_ns;
	uint64_t loop_ns;      /* when all was set up */
	uint64_t end_ns;       /* once set: records behind it do not belong to the recording */
	uint64_t cpu_begun_ns; /* own CPU time when the loop begins … */
	uint64_t cpu_over_ns;  /* … and when it has ended */
	bool preload_full;     /* rings of processes fill fast */
	bool calm;	       /* there are few records */
	bool discard;	       /* calibration's records */
	uint64_t seen;	       /* records, … */
	uint64_t sampled_seen; /* … and until sampled_ns */
	uint64_t refused;      /* of these, by the writer: the disk or the size limit */
	int err;	       /* sticky, from the writer */
	int nice;	       /* priority before */
	bool useless;	       /* nothing was recorded: the file is to go */
};

/* ---- session_meta.c: failures to write stick in session.err ---- */

/* Whether any function of a layer was chosen. */
bool session_records_layer(const struct session *s, const struct layer *layer);
/* What is recorded, where and how; before any record. */
void session_meta_begin(struct session *s);
/* What is recorded of the kernel's own functions, if anything is. */
void session_meta_kernel(struct session *s);
/* A running process is being recorded from now on. */
void session_meta_target(struct session *s, pid_t pid);
/* The same of the command that was launched. */
void session_meta_command(struct session *s);
/* Why the recording ended and what is missing from it; fills the result's own_cpu_ns, stored and unstored. */
void session_meta_end(struct session *s);

/* The end of what a file has. */
struct session_over {
	uint64_t ts_ns;
	const char *reason;
	const struct trace_tally *stored;
	uint64_t own_cpu_before_ns; /* used before what the file has, … */
	uint64_t recursions_before; /* … and met */
	json_t *more;		    /* other members of the object "end"; taken over, or NULL */
};
void session_meta_over(struct session *s, const struct session_over *over);
/* What is recorded, in a file that begins then; kept: that it is a part of a longer recording, taken over, or NULL. */
void session_meta_recording(struct session *s, uint64_t begin_ns, json_t *kept);

/* Fills the result's stored and unstored: what is in the file by now, what is not yet written counting as if it were. */
void session_stored_count(struct session *s);
/* CPU time of this process and its helper. */
uint64_t session_own_cpu_ns(const struct session *s);

/* ---- session.c, for the others ---- */

/* What the calibration's process has counted, which is told as late as it ends. */
bool session_is_calibration(const struct pov_hdr *rec);
/* Stores a record, unless it is from behind the end. */
void session_record(struct session *s, unsigned int stream, const struct pov_hdr *rec);
/* Takes what is in the rings, and what was lost. */
void session_take(struct session *s);
/* Records who there is: of all processes, or of those that are targets now (by session_options.sched). */
int session_snapshot(struct session *s);

/* ---- session_targets.c ---- */

/* Before anything is loaded or created: the processes to attach to are there. 0 or -ESRCH (printed). */
int session_targets_check(const struct session_options *o);
/* Whether probes may lie in all processes: no functions of any may begin with jumps. */
int session_targets_check_all(const struct session_options *o);
/* Has them recorded, and what they have mapped looked at. 0 or -errno (printed). */
int session_targets_find(struct session *s);
/* Fills the result's left and left_cnt, once no probe is attached any more. */
void session_targets_left(struct session *s);

/* ---- session_keep.c: of a session that keeps the newest part only; does nothing in another one ---- */

void session_keep_open(struct session *s);
/* The recording begins: before any record. */
void session_keep_begin(struct session *s);
/* A record, before it is stored. */
void session_keep_record(struct session *s, const struct pov_hdr *rec);
/* Whether calls of the function, by its row, may have a file written. */
bool session_keep_watches(const struct session *s, size_t func);
/* What is to be done now and then: beginnings of segments, files that somebody asks for. */
void session_keep_work(struct session *s, uint64_t now_ns);
/* The recording has ended: what goes into the last file beside the records. */
void session_keep_end(struct session *s);
void session_keep_release(struct session *s);

/* ---- session_stack.c: calls that were under way before their process was attached to ---- */

/* Before kernel_calls_end, if there are processes that were attached to. */
void session_stack_find(struct session *s);
/* An open call whose begin was recorded. */
void session_stack_seen(struct session *s, const struct pov_hdr *open);
/* Takes note of threads that begin calls: their open calls began during the recording. */
void session_stack_identity(struct session *s, const struct pov_hdr *rec);
/* Records those found of threads whose calls no probe has seen begin; after session_stack_seen. */
void session_stack_tell(struct session *s);
void session_stack_release(struct session *s);

/* ---- session_limit.c: the limit on what tracing may cost, if there is one ---- */

/* What it needs to know before anything is attached. */
void session_limit_prepare(struct session *s);
/* For a file that ends then: how it is with functions that are not recorded one by one. */
void session_limit_tell(struct session *s, uint64_t ts_ns);
/* Once costs are known. */
void session_limit_start(struct session *s);
/* An identity record of the kernel half. */
void session_limit_identity(struct session *s, const struct pov_hdr *rec);
/* To be called every few milliseconds; more often if that hurries. */
void session_limit_tick(struct session *s, uint64_t now_ns);
bool session_limit_hurries(const struct session *s);
/* After kernel_calls_end, before probes are detached. */
void session_limit_end(struct session *s);
void session_limit_release(struct session *s);

/* ---- session_preload.c: processes that record their calls themselves, if this session has any ---- */

/* Decides whether there are any. 0 or -errno (printed). */
int session_preload_choose(struct session *s);
/* Serves the command's threads, and has it load the library. 0 or -errno (printed). */
int session_preload_open(struct session *s);
/* Processes record their calls; or they only wait for probes. */
bool session_preload_records(const struct session *s);
/* What to wait for, as preload_poll; and what to do then. */
unsigned int session_preload_polled(const struct session *s, struct pollfd *out);
void session_preload_work(struct session *s, const struct pollfd *polled, unsigned int cnt);
/* Whether a ring of a process is rather full by now. */
bool session_preload_fills(const struct session *s);
void session_preload_take(struct session *s);
/* An identity record of the kernel half, after images_control; a thread's end before it. */
void session_preload_identity(struct session *s, const struct pov_hdr *rec);
/* What recording a call costs them, once some have measured it. */
void session_preload_cost(struct session *s);
/* What they have counted until now. */
void session_preload_count(struct session *s, uint64_t now_ns);
/* After kernel_calls_end. */
void session_preload_end(struct session *s);
void session_preload_release(struct session *s);

#endif
