/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Predicts the run as it would have been without certain waits. It keeps who waited for what: which
 * call could not end before another thread had begun a call of its own (a message's other end, the
 * members of a collective). It also keeps when calls began. whatif_run replays this in order of
 * time and finds how much earlier each thread would have been. Time between calls stays as
 * recorded. A call ends as long after the last thing that it waited for as it did in the recording.
 * Waits that are left out shift everything that depends on them. So a rank gains nothing by being
 * faster to a barrier that another rank reaches late.
 *
 * The method is known from simulators that replay traces, such as Dimemas (Labarta et al. 1996).
 * Here transfers take the time that they took in the recording.
 */
#ifndef POV_ANALYSIS_WHATIF_H
#define POV_ANALYSIS_WHATIF_H

#include "analysis/arrivals.h"
#include "analysis/holders.h"
#include "analysis/late.h"

enum whatif_kind {
	/* a receive could not end before its send was posted */
	WHATIF_SEND_POSTED,
	/* a send was completed only after its receive was posted */
	WHATIF_RECV_POSTED,
	/*
	 * Both sides were posted and this side waited, but the other thread was outside MPI. The
	 * transfer went on when that thread called MPI again.
	 */
	WHATIF_PEER_IN_MPI,
};

/* Something that a call waited for. */
struct whatif_dep {
	enum whatif_kind kind;
	/* begin and end of the call that completes this side of the message */
	uint64_t begin_ns, end_ns;
	/* when the other thread began the call that this side waited for */
	uint64_t on_ns;
	uint64_t both_ns; /* when both sides were posted */
	int64_t bytes;	  /* or BYTES_UNKNOWN */
	/* idx of the waiting thread and of the thread that it waited for */
	uint32_t thread, on;
	/* call that posted the send: index for whatif_site */
	uint32_t site;
	bool sends; /* this side is the sender */
	bool other_host;
	/* the other side's WHATIF_PEER_IN_MPI: it waited for this call to begin */
	bool stood_still;
};

/*
 * How long the call waited. For WHATIF_PEER_IN_MPI this counts only from when both sides were
 * posted.
 */
static inline uint64_t whatif_waited_ns(const struct whatif_dep *d)
{
	uint64_t from_ns = d->kind == WHATIF_PEER_IN_MPI && d->both_ns > d->begin_ns ? d->both_ns :
										       d->begin_ns;

	return d->on_ns > from_ns ? d->on_ns - from_ns : 0;
}

/* The call of the wait that whatif_each reported last, and its longest wait so far. */
struct whatif_once {
	uint64_t begin_ns, end_ns, ns;
	uint32_t thread;
};

/* whatif_waited_ns without what was counted already: a call waits for several messages at once. */
static inline uint64_t whatif_once_ns(struct whatif_once *o, const struct whatif_dep *d)
{
	uint64_t ns = whatif_waited_ns(d), more_ns;

	if (o->thread != d->thread || o->begin_ns != d->begin_ns || o->end_ns != d->end_ns)
		*o = (struct whatif_once){d->begin_ns, d->end_ns, 0, d->thread};
	more_ns = ns > o->ns ? ns - o->ns : 0;
	o->ns += more_ns;
	return more_ns;
}

/* How long the call went on after the wait. */
static inline uint64_t whatif_rest_ns(const struct whatif_dep *d)
{
	return d->end_ns - (d->on_ns > d->begin_ns ? d->on_ns : d->begin_ns);
}

/* A stretch in which a thread had no core. */
struct whatif_no_core {
	uint64_t from_ns, to_ns;
	uint32_t thread; /* idx */
	uint32_t holder; /* idx of the thread that had it, or UINT32_MAX */
};

struct whatif;

/* How a wait and its call would have been. Zeros leave both as they were. */
struct whatif_instead {
	/*
	 * How much longer the call takes. Negative: shorter, at most until no time is left after
	 * its waits. This applies even if the wait is kept.
	 */
	int64_t extra_ns;
	/*
	 * For a receive that waits for its send (WHATIF_SEND_POSTED): the part of its time that is
	 * a transfer which goes on outside the receive call. The transfer begins with the send,
	 * after earlier transfers of the sending thread. So a late receive finds its data ready.
	 */
	int64_t transfer_ns;
};

/* A stretch of a thread that is this much shorter. */
struct whatif_spared {
	uint64_t from_ns, to_ns;
	int64_t ns;
	uint32_t thread; /* idx */
};

/* The change to simulate. Each callback may be NULL: then it changes nothing. */
struct whatif_change {
	/* Returns true if the wait is left out. *instead describes other changes. */
	bool (*leave_out)(void *ctx, const struct whatif_dep *d, struct whatif_instead *instead);
	/* Returns how many ns of the stretch without a core are left out. */
	uint64_t (*give_core)(void *ctx, const struct whatif_no_core *n);
	/*
	 * Time that give_core leaves out of other participants also shortens a call: after its
	 * waits, a transfer or collective proceeds only as fast as they do.
	 */
	bool with_others;
	/*
	 * Returns how many ns shorter a member's call of a collective is (negative: longer).
	 * own_ns: its duration after the arrival of the last member that came before its end.
	 */
	int64_t (*shorten)(void *ctx, uint32_t thread, uint64_t begin_ns, int64_t own_ns);
	void *ctx;
	/* Other stretches that are shorter, in order of thread and time, without overlaps. */
	const struct whatif_spared *spared;
	size_t nspared;
	/*
	 * By idx of threads, or NULL: how much earlier a thread is when the recording begins.
	 * whatif_run sets it to how much earlier the thread is at the end.
	 */
	int64_t *lead_ns;
};

struct whatif *whatif_new(const struct model *m);
/*
 * Bounds the memory for the recording's calls and messages. If they need more, everything is
 * dropped and whatif_is_full returns true.
 */
void whatif_limit(struct whatif *w, size_t bytes);
bool whatif_is_full(const struct whatif *w);
void whatif_free(struct whatif *w);
const struct model_sink *whatif_sink(struct whatif *w);
/*
 * Observes the analyses of matches, of collectives and of cores. Call before the replay. Of
 * several, only the one attached last is notified of collectives in which no member waited.
 */
void whatif_attach(struct whatif *w, struct late_pairs *late, struct arrivals *arrivals,
		   struct holders *holders);

/* How many ns earlier the last call of all threads would end. Call after the replay. */
uint64_t whatif_run(struct whatif *w, const struct whatif_change *change);

/* ---- threads that are faster outside MPI (whatif_run.c) ---- */

/* Also keeps when ranks slept. Call before the replay. */
void whatif_keep_sleeps(struct whatif *w);
struct whatif_spared_list {
	struct whatif_spared *v; /* owned by the caller */
	uint32_t n;
};
/*
 * Appends a thread's sleeps outside MPI that began within from_ns … to_ns. False: there were too
 * many to keep.
 */
bool whatif_spare_sleeps(const struct whatif *w, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
			 struct whatif_spared_list *out);
/*
 * Appends stretches of a thread outside MPI within from_ns … to_ns, shortened by ns in all.
 * Shortens those after which others waited for the thread or, if they do not suffice, all in
 * proportion.
 */
void whatif_spare_work(struct whatif *w, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		       uint64_t ns, struct whatif_spared_list *out);
/*
 * Appends stretches within from_ns … to_ns that become longer, in all by ns[idx] for each thread.
 * They lie before calls that waited for others, and grow in proportion to the waits.
 */
void whatif_add_work(struct whatif *w, const uint64_t *ns, uint64_t from_ns, uint64_t to_ns,
		     struct whatif_spared_list *out);
/* Sorts the list, and runs with its stretches shortened. */
uint64_t whatif_run_spared(struct whatif *w, struct whatif_spared_list *list);

/* A stretch of a thread. Its time outside MPI counts for the longest path. */
struct whatif_stretch {
	uint64_t from_ns, to_ns;
};
struct whatif_part {
	/* in order of time, without overlaps; the caller's */
	const struct whatif_stretch *stretch;
	uint32_t n;
	/* the path may lead through this thread, whether its time counts or not */
	bool leads;
	bool ends; /* the path may also end with this thread */
};
/*
 * The longest path of counted time through messages and collectives. It is the duration that the
 * run, or a part of it, would have on a network whose transfers take no time. Messages lead from
 * send to receive. In a collective, a member waits if it needs the others' data. part: by idx of
 * threads.
 */
uint64_t whatif_longest_ns(struct whatif *w, const struct whatif_part *part);
/* Calls emit for each wait for a message (where begin_ns < on_ns <= end_ns), in order of end_ns. */
void whatif_each(struct whatif *w, void (*emit)(void *ctx, const struct whatif_dep *d), void *ctx);
/*
 * How long such a message takes once both sides are in MPI. This is the median of the last 31
 * messages of exactly this size whose two sides were in the completing calls when the later side
 * was posted. If there was none, it is the median of those that had stood still, from when they
 * went on. 0: none was seen.
 */
uint64_t whatif_transfer_ns(const struct whatif *w, int64_t bytes, bool other_host);
/* Calls emit for each message, as the wait of its receive for its send. */
void whatif_messages(const struct whatif *w, void (*emit)(void *ctx, const struct whatif_dep *d),
		     void *ctx);

struct whatif_site {
	const struct func_info *func;
	struct model_site site;
};
const struct whatif_site *whatif_site(const struct whatif *w, uint32_t site);

#endif
