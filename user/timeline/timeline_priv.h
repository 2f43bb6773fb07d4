/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by the parts of the timeline; private to them:
 * - timeline.c: selection and callbacks of the model
 * - timeline_track.c: identities, nesting of slices
 * - timeline_call.c: calls and polls, and counted calls
 * - timeline_group.c: short calls, drawn together; arrows and counters, thinned out
 * - timeline_mark.c: phases of programs, findings, ends of ranks
 * - timeline_sched.c: switches and wake-ups, merged switches
 * - timeline_arrow.c: arrows of messages, operations and wake-ups
 * - timeline_post.c: posts, and arrows to their completions
 * - timeline_protocol.c: messages made of posts
 */
#ifndef POV_TIMELINE_TIMELINE_PRIV_H
#define POV_TIMELINE_TIMELINE_PRIV_H

#include <sys/queue.h>

#include "lib/map.h"
#include "timeline/timeline.h"

struct tl_counted;
struct tl_group;
struct tl_messages;
struct tl_pairs;
struct tl_phases;
struct tl_post_track;
struct tl_yield;

enum arrow_kind { ARROW_MESSAGE, ARROW_OPERATION, ARROW_WAKE, ARROW_KINDS };
/*
 * A thread has two queues of wake-ups: those that it made (OUT), and those that woke it (IN), each
 * sorted by the time of this end.
 */
enum wake_end_kind { WAKE_OUT, WAKE_IN, WAKE_ENDS };
STAILQ_HEAD(wake_queue, wake);
TAILQ_HEAD(wake_list, wake);

/* Stored in model_thread.user. */
struct tl_thread {
	struct model_thread *model;
	struct track track;
	struct tl_phases *phases;	   /* NULL: it marks no phases */
	struct tl_post_track *post_tracks; /* linked list */
	struct track *tracing;		   /* NULL: it has not waited for povtrace */
	struct tl_counted *counted;	   /* NULL: it has counted no calls; owned */
	struct tl_group *group;		   /* short calls; NULL: it has made none; owned */
	/* begin of its last arrow between short calls; 0: none */
	uint64_t arrow_ns[ARROW_KINDS];
	bool announced;		    /* announced to the format */
	struct model_process *proc; /* process that its slices belong to */
	char comm[16];		    /* name last announced */
	int32_t run_cpu;	    /* CPU it was switched to; -1: unknown */
	/* CPU whose switches with this thread are held back; -1: none */
	int32_t yield_cpu;
	/* when it last left a CPU while ready to run; 0: it slept */
	uint64_t yielded_ns;
	uint64_t call_ns;  /* end of the last reported call or spin */
	uint64_t ready_ns; /* when it last left a CPU or was woken; 0: unknown */
	bool blocked;	   /* its last switch put it to sleep */
	bool has_slices;
	bool outer_seen;
	uint64_t outer_end_ns;	  /* end of the last call or spin that is not inside another */
	struct wake *pending_run; /* woken from sleep, not yet on a CPU */
	struct wake_queue wakes[WAKE_ENDS];
	uint64_t forgotten; /* number of wake-ups by it that were given up undecided */
};

struct tl_cpu {
	bool seen;
	struct sched_task next; /* from the last switch; its comm is in next_comm */
	char next_comm[16];
	struct tl_thread *thread; /* thread of next, unless idle or not recorded */
	uint16_t next_prio;
	uint64_t last_ns;
	bool unrecorded_reported;
	struct track *irq[2]; /* hard, soft */
	struct track *runnable;
	struct tl_yield *yield; /* NULL: none yet; owned */
};

struct timeline {
	struct timeline_options opt;
	const struct timeline_ops *ops;
	void *ctx;
	struct writer_totals *totals;
	struct model_sink sink;
	uint64_t from_ns, to_ns; /* absolute; to_ns UINT64_MAX = end */

	struct tl_thread **thread;
	uint32_t nthreads;
	uint32_t nprocesses;
	struct tl_cpu *cpu;
	uint32_t ncpus;
	struct track **track; /* tracks that belong to no thread */
	uint32_t ntracks;
	/* the same tracks by pid << 32 | order; the last one if there are several */
	struct map track_of[TRACK_KIND_CNT];
	bool self_told; /* announced: the process that stands for povtrace */

	int8_t *func_shown; /* by function id: 0 unknown, 1 shown, -1 hidden */
	struct writer_args args;
	struct wake_list wakes; /* oldest first */
	uint32_t nwakes;
	uint64_t flow_id;
	uint64_t pairs_since_ns;      /* ends of arrows before this time are forgotten */
	struct tl_pairs *pairs;	      /* NULL: nothing was posted */
	struct tl_messages *messages; /* NULL: no message was posted */
};

static inline bool tl_in_window(const struct timeline *tl, uint64_t ts_ns)
{
	return ts_ns >= tl->from_ns && ts_ns <= tl->to_ns;
}

/* Mixes a word into a hash of several words. */
static inline uint64_t tl_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

/* ---- timeline_track.c ---- */

/* Writes a slice. If it has no place, writes an instant for it and returns false. */
bool tl_track_add(struct timeline *tl, struct track *t, struct slice *s, uint8_t depth,
		  bool orphan);
/* Writes s, of which begin_ns, name and category are set, as an instant with tl->args. */
void tl_instant_write(struct timeline *tl, struct track *t, struct slice *s);
void tl_track_close(struct timeline *tl, struct track *t); /* ends all slices on it */
void tl_track_release(struct track *t);

/* ---- timeline_track.c ---- */
char *tl_cpu_name(const struct timeline *tl, uint32_t cpu, const char *what); /* caller frees */
struct tl_thread *tl_thread_of(struct timeline *tl, struct model_thread *t);
struct tl_cpu *tl_cpu_of(struct timeline *tl, uint32_t cpu);
/*
 * A track of povtrace's own process also announces that process. name: ownership passes to the
 * track.
 */
struct track *tl_track_new(struct timeline *tl, enum track_kind kind, uint32_t pid, uint32_t order,
			   char *name);
struct track *tl_track_find(const struct timeline *tl, enum track_kind kind, uint32_t pid,
			    uint32_t order);
/*
 * Announces processes that stand for povtrace. tl_self_tell(): the one that owns its tracks and
 * intervals, only if there are any.
 */
void tl_own_process_tell(struct timeline *tl, uint32_t pid, const char *name, int32_t order);
void tl_self_tell(struct timeline *tl);
void tl_thread_event(void *ctx, const struct model_thread *t, uint64_t ts_ns);
void tl_identities_complete(struct timeline *tl);

/* ---- timeline_call.c ---- */
struct tl_thread *tl_caller_of(struct timeline *tl, struct model_thread *t);
bool tl_call_selected(struct timeline *tl, const struct model_call *c);
void tl_call(void *ctx, const struct model_call *c);
void tl_spin(void *ctx, const struct model_spin *sp);

/* For a displayed function. */
void tl_counted_add(struct timeline *tl, struct tl_thread *th, const struct model_counted *m);
void tl_counted_finish(struct timeline *tl, struct tl_thread *th);

/* ---- timeline_group.c: a call, or merged polls, as a group of short calls counts it ---- */
#define TL_BRIEF_PARTS 4
#define TL_BYTES 4 /* values in bytes of different meaning that a call shows */
struct tl_brief {
	bool fits; /* suitable for groups; else only depth and orphan are set */
	bool orphan, empty_polls;
	uint8_t depth;
	uint64_t begin_ns, end_ns;
	uint32_t sized; /* bit mask: which of bytes[] the call has */
	uint64_t bytes[TL_BYTES];
	const struct state_times *split;
	const char *activity;
	uint32_t nparts;
	struct tl_brief_part {
		const struct func_info *func;
		uint64_t cnt, busy_ns;
	} part[TL_BRIEF_PARTS];
};
void tl_brief_from_call(const struct timeline *tl, const struct model_call *c, bool orphan,
			const char *activity, struct tl_brief *out);
void tl_brief_from_spin(const struct timeline *tl, const struct model_spin *sp, bool orphan,
			const char *activity, struct tl_brief *out);
/* Adds b to the thread's pending group. False if it does not belong there; then draws the group. */
bool tl_group_join(struct timeline *tl, struct tl_thread *th, const struct tl_brief *b);
/*
 * Begins a group with b. s: the slice to draw if no other call joins. False if b fits into no
 * group: the caller draws s.
 */
bool tl_group_begin(struct tl_thread *th, const struct slice *s, const struct tl_brief *b);
void tl_group_flush(struct timeline *tl, struct tl_thread *th);

/* brief: all calls of the arrow are shorter than the resolution. */
bool tl_arrow_drawn(struct timeline *tl, const struct model_thread *from, enum arrow_kind kind,
		    uint64_t from_ns, bool brief);
void tl_counter_add(struct timeline *tl, struct track *t, uint64_t ts_ns, int64_t value);
void tl_counter_flush(struct timeline *tl, struct track *t);

/* ---- timeline_mark.c ---- */
void tl_phase(struct timeline *tl, struct tl_thread *th, const struct model_call *mark);
/* For a region that has ended. */
void tl_region(struct timeline *tl, struct tl_thread *th, const struct model_region *r);
void tl_phases_finish(struct timeline *tl, struct tl_thread *th);
void tl_phases_free(struct tl_thread *th);

/* ---- timeline_post.c: for a displayed call ---- */
#define TL_POST_NAME_BYTES 48
void tl_post(struct timeline *tl, struct tl_thread *th, const struct model_post *p);
void tl_post_tracks_free(struct tl_thread *th);
/* Name of the MPI call that a post was made in, or a text that there is none. */
const char *tl_post_mpi_call(const struct model_post *p);

/* Forgets all posts and completions before until_ns, because calls were lost. */
void tl_pairs_forget(struct timeline *tl, uint64_t until_ns);
void tl_pairs_free(struct timeline *tl);

/* ---- timeline.c: selection ---- */
bool tl_process_shown(const struct timeline *tl, const struct model_process *p);
bool tl_func_shown(struct timeline *tl, const struct func_info *f);
bool tl_interval_shown(const struct timeline *tl, uint64_t begin_ns, uint64_t end_ns);
bool tl_call_shown(struct timeline *tl, const struct model_process *p, const struct func_info *f);

/* ---- timeline_arrow.c ---- */
/* ctx: the timeline. */
void tl_arrow_operation(void *ctx, const struct model_operation *o);

/* ---- timeline_protocol.c. s: slice of the step ---- */
void tl_message_add(struct timeline *tl, struct tl_thread *th, const struct slice *s,
		    const struct model_post *p);
void tl_messages_finish(struct timeline *tl);
void tl_messages_free(struct timeline *tl);

/* ---- timeline_sched.c ---- */
void tl_on_switch(void *ctx, const struct model_switch *s);
void tl_on_waking(void *ctx, const struct model_waking *w);
void tl_sched_lost(struct timeline *tl, const struct model_lost *l);
/* Notes calls, in every pass. ctx: the timeline. */
void tl_yield_call(void *ctx, const struct model_call *c);
void tl_yield_spin(void *ctx, const struct model_spin *sp);
/* Writes all switches held back. */
void tl_yield_flush_all(struct timeline *tl);

void tl_wake_add(struct timeline *tl, struct tl_thread *waker, struct tl_thread *target,
		 uint64_t ts_ns, uint32_t cpu);
void tl_wake_run(struct tl_thread *target, uint64_t ts_ns, uint32_t cpu);
/* What the arrows of wake-ups need to know of a slice. */
struct wake_slice {
	uint64_t begin_ns, end_ns;
	bool shown;  /* has been written */
	bool orphan; /* the call around it has not been reported yet */
};
void tl_wake_slice(struct timeline *tl, struct tl_thread *t, const struct wake_slice *s);
void tl_wake_finish(struct timeline *tl);
void tl_wakes_free(struct timeline *tl);

#endif
