/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The common part of both Perfetto formats: which tracks exist, which slices they have and how
 * these nest, which scheduler events and arrows are reported. A format only encodes what arrives at
 * its timeline_ops, so both show the same and can be compared by their totals. Memory is bounded by
 * threads, CPUs and the bounds TIMELINE_*_MAX.
 * Guarantees to the format:
 * - A slice lies inside its parent or after its sibling, and slice_end() comes innermost first.
 * - Slices of a track come in order of begin, a parent before its children. An exception are
 *   parents that the model could report only after some of their children: they begin before those,
 *   never at the same time.
 * - Messages (TRACK_MESSAGE) come in any order, each followed by its end.
 * - The switches of a CPU form a chain: prev of each is next of the one before.
 */
#ifndef POV_TIMELINE_TIMELINE_H
#define POV_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/distortion.h"
#include "model/model.h"
#include "timeline/args.h"
#include "timeline/writer.h"

#define FUNC_IDS 65536		  /* greater than any id of struct func_info */
#define TIMELINE_WAKES_MAX 131072 /* wake-ups stored until both threads' calls are known */
#define TIMELINE_PAIRS_MAX 131072 /* posts waiting for their completion, and the reverse */
#define TIMELINE_LANES_MAX 16	  /* tracks for the messages of a layer in a process */
#define TIMELINE_FINDINGS_MAX 8	  /* tracks for the findings of a kind */
/*
 * Processes and threads that stand for povtrace itself; above any pid that the kernel assigns
 * (2^22).
 */
#define TIMELINE_PID 2000000000u
#define TIMELINE_TRACK_TID 2000000001u	    /* + number of the track */
#define TIMELINE_DISTORTION_PID 2003000000u /* shown above everything if tracing cost much */
#define TIMELINE_FINDINGS_PID 2004000000u   /* shown above the ranks */
#define TIMELINE_UNRECORDED_TID 2001000000u /* + CPU */
#define TIMELINE_IDLE_TID 2002000000u	    /* + CPU; for formats without idle threads */

struct sites;

enum track_kind {
	TRACK_THREAD,	 /* slices of a thread */
	TRACK_RECORDING, /* one slice: the recording */
	TRACK_LOST,	 /* lost records: per ring and class */
	TRACK_IRQ,	 /* interrupts of a CPU, hard or soft */
	TRACK_IN_FLIGHT, /* counter: bytes of a process */
	TRACK_RUNNABLE,	 /* counter: threads waiting for a CPU */
	TRACK_PHASE, /* phases that a thread marks, of one level; or its regions, of one depth */
	TRACK_DISTORTION, /* one slice: what tracing cost */
	TRACK_MESSAGE,	  /* messages of a protocol in a process, of one layer */
	TRACK_POST,	  /* posts, completions or arrivals of a thread, of one layer */
	TRACK_FINDING,	  /* findings of a kind */
	TRACK_COUNTED,	  /* calls of a thread that were counted */
	TRACK_TRACING,	  /* when a thread waited for povtrace */
	TRACK_KIND_CNT,
};

struct track_slice {
	uint64_t begin_ns, end_ns; /* end UINT64_MAX: never */
	uint8_t depth;
};

struct track_late;

struct track {
	enum track_kind kind;
	uint32_t pid, tid; /* as written; tid is for TRACK_THREAD and tracks of slices */
	uint32_t order;	   /* order within its kind: CPU, ring × class, … */
	uint64_t uuid;	   /* for the format: 0 until it has declared the track */
	char *name;	   /* NULL for threads; owned */
	struct track_slice *stack;
	uint32_t depth, room;
	uint64_t last_begin_ns, max_end_ns; /* over all slices so far */
	struct track_late *late;	    /* NULL unless children came before their parent */
	struct track_thin *thin;	    /* for a counter with thinned-out values, else NULL */
};

struct slice {
	uint64_t begin_ns, end_ns;
	bool open;	/* no known end; end_ns = last time it was seen open */
	bool instant;	/* shown as an instant, at begin_ns */
	bool with_open; /* begins together with an open slice around it */
	const char *name, *category;
	const char *activity;	      /* gives similar functions the same colour; or NULL */
	const struct func_info *func; /* owner of name and category, or NULL */
	bool few_names;		      /* if func is NULL: the name is one of few that recur */
	uint64_t flow_out, flow_in;   /* id of the arrow that leaves or arrives; 0: none */
	const struct writer_args *args;
};

struct sched_task {
	uint32_t tid, tgid; /* as written; tid 0 is idle */
	const char *comm;
	bool unannounced; /* the format does not know it: the thread appeared unexpectedly */
};

#define SCHED_PREEMPTED 0x100
struct sched_switch {
	uint64_t ts_ns;
	uint32_t cpu;
	bool first; /* of this CPU */
	struct sched_task prev, next;
	/* as sched_switch reports it since 4.14: one bit, or SCHED_PREEMPTED */
	uint32_t prev_state;
	uint16_t prev_prio, next_prio;
};

struct sched_waking {
	uint64_t ts_ns;
	uint32_t cpu, target_cpu;
	uint16_t prio;
	struct sched_task waker, target;
	bool waker_current; /* the last switch of this CPU was to the waker */
	bool by_interrupt;  /* the interrupt hit the waker */
};

/* Callbacks of a format; NULL: ignored. */
struct timeline_ops {
	/*
	 * Announces a process or thread; again when its name has changed. Late
	 * threads have `unannounced` set.
	 */
	void (*process)(void *ctx, const struct model_process *p, int32_t order);
	void (*thread)(void *ctx, const struct sched_task *t, int32_t order, uint64_t ts_ns);
	void (*slice)(void *ctx, struct track *t, const struct slice *s);
	void (*slice_end)(void *ctx, struct track *t, uint64_t ts_ns);
	void (*counter)(void *ctx, struct track *t, uint64_t ts_ns, int64_t value);
	void (*sched_switch)(void *ctx, const struct sched_switch *s);
	void (*sched_waking)(void *ctx, const struct sched_waking *w);
	/* events of this CPU are missing around this time */
	void (*sched_lost)(void *ctx, uint32_t cpu);
	/* a sample with callers; NULL: the format has none */
	void (*sample)(void *ctx, const struct model_sample *s);
};

struct timeline_options {
	const struct writer_select *select;
	const struct writer_args *recording; /* facts about the recording */
	uint64_t start_ns, end_ns;	     /* of the recording */
	uint64_t floor_ns;		     /* earlier begins are shown at this time */
	bool slices, sched;		     /* content of this pass */
	bool sched_recorded, sched_all;
	uint32_t rings, cpus_per_ring; /* 0: unknown */
	uint32_t nr_cpus;
	const struct model *model; /* for naming CPUs; may be NULL */
	struct poll_cost poll_cost;
	struct sites *sites; /* names of call sites; NULL: unknown */
	/*
	 * Shorter calls are drawn together (timeline_group.c), arrows and counters thinned out. 0:
	 * never.
	 */
	uint64_t resolution_ns;
};

struct findings;
struct rank_ends;
struct timeline;

/* Fills in the facts that the model knows. */
void timeline_options_fill(struct timeline_options *opt, struct model *m,
			   const struct writer_select *sel, const struct writer_args *recording);

/* opt, ops and ctx are borrowed until timeline_free(). */
struct timeline *timeline_new(const struct timeline_options *opt, const struct timeline_ops *ops,
			      void *ctx, struct writer_totals *totals);
/*
 * Adds identities before the replay. The timeline owns their user pointers until timeline_free().
 * Threads and processes that appear later, because their records were lost, are announced at the
 * end, when their identity is known.
 */
void timeline_add_process(struct timeline *tl, struct model_process *p);
void timeline_add_thread(struct timeline *tl, struct model_thread *t);
void timeline_add_model(struct timeline *tl, struct model *m);
/* After the replay: adds those that appeared in it without showing anything. */
void timeline_add_stragglers(struct timeline *tl, struct model *m);
/* Adds an MPI message (timeline_arrow.c). ctx: the timeline; event: a struct match. */
void tl_arrow_message(void *ctx, const void *event);
const struct model_sink *timeline_get_sink(struct timeline *tl);
/* Adds the findings of the selected ranks. Call before timeline_finish(). */
void timeline_add_findings(struct timeline *tl, const struct findings *all);
/* Adds how ranks ended. shown: by process index. Call before timeline_finish(). */
void timeline_add_ends(struct timeline *tl, const struct rank_ends *e, const bool *shown);
/* Ends everything that is still open. Call once, after the replay. */
void timeline_finish(struct timeline *tl);
void timeline_free(struct timeline *tl);

/* Runs one pass of the model through ops: identities, replay, finish. 0 or -errno. */
int timeline_run(struct model *m, const struct timeline_options *opt,
		 const struct timeline_ops *ops, void *ctx, struct writer_totals *totals);

#endif
