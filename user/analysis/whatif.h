/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The run as it would have been without certain waits. Of the recording it keeps who waited for what: which call could not end before another
 * thread had begun a call of its own (a message's other end; the members of a collective), and when calls began. whatif_run goes
 * through these in order of time and tells how much earlier each thread is then: what a thread does between calls takes the time that it took, a
 * call ends as long behind the last thing that it waited for as it did, and waits that are left out shift all that depends on them. So a rank
 * gains nothing by being faster to a barrier that another one reaches late.
 *
 * Known from simulators that replay traces, as Dimemas (Labarta et al. 1996); here transfers take the time that they took.
 */
#ifndef POV_ANALYSIS_WHATIF_H
#define POV_ANALYSIS_WHATIF_H

#include "analysis/arrivals.h"
#include "analysis/holders.h"
#include "analysis/match.h"

enum whatif_kind {
	WHATIF_SEND_POSTED, /* a receive could not be over before its send was posted */
	WHATIF_RECV_POSTED, /* a send was completed only after its receive was posted */
	/* Both were posted, this side waited, and the other thread was outside MPI: it went on when that called MPI again. */
	WHATIF_PEER_IN_MPI,
};

/* What a call waited for. */
struct whatif_dep {
	enum whatif_kind kind;
	uint64_t begin_ns, end_ns; /* of the call that completes this side of the message */
	uint64_t on_ns;		   /* when the other thread began the call that was waited for */
	uint64_t both_ns;	   /* when both sides were posted */
	int64_t bytes;		   /* or BYTES_UNKNOWN */
	uint32_t thread, on;	   /* idx of threads */
	uint32_t site;		   /* of the call that posted the send: of whatif_site */
	bool sends;		   /* this side */
	bool other_host;
	bool stood_still; /* the other side waited for this call to begin: its WHATIF_PEER_IN_MPI */
};

/* How long: of what could go on without the other one, from when both sides were posted. */
static inline uint64_t whatif_waited_ns(const struct whatif_dep *d)
{
	uint64_t from_ns = d->kind == WHATIF_PEER_IN_MPI && d->both_ns > d->begin_ns ? d->both_ns :
										       d->begin_ns;

	return d->on_ns > from_ns ? d->on_ns - from_ns : 0;
}

/* And how long the call took behind that. */
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

/* How a wait, and the call that it is in, would have been; 0: as they were. */
struct whatif_instead {
	int64_t extra_ns; /* by how much the call takes longer (less than 0: shorter, down to no time behind its waits), also if the wait is kept */
	/*
	 * Of a receive that waits for its send (WHATIF_SEND_POSTED): how much of its time is a transfer that goes on while it is not called. It begins
	 * as the send does, behind the others of that thread; so a receive that comes late finds the data there.
	 */
	int64_t transfer_ns;
};

/* What is to be different. Either may be NULL: nothing is. */
struct whatif_change {
	/* Whether a wait is left out; *instead: what else is different. */
	bool (*leave_out)(void *ctx, const struct whatif_dep *d, struct whatif_instead *instead);
	/* How many ns of it are left out. */
	uint64_t (*give_core)(void *ctx, const struct whatif_no_core *n);
	/*
	 * Also what is left out of the others in a call shortens it: behind what it waited for, a transfer or a collective goes on only as
	 * they do.
	 */
	bool with_others;
	/* By how many ns a member's call of a collective is shorter (less than 0: longer). own_ns: what it took, from when all had come that came before its end. */
	int64_t (*shorten)(void *ctx, uint32_t thread, uint64_t begin_ns, int64_t own_ns);
	void *ctx;
};

struct whatif *whatif_new(const struct model *m);
/* Bounds the memory that the recording's calls and messages take. If they need more, nothing more is kept, and whatif_is_full. */
void whatif_limit(struct whatif *w, size_t bytes);
bool whatif_is_full(const struct whatif *w);
void whatif_free(struct whatif *w);
const struct model_sink *whatif_sink(struct whatif *w);
void whatif_match(struct whatif *w, const struct match *m);
/* Listens to the analyses that tell of collectives and of cores, before the replay; who listened before still does. */
void whatif_attach(struct whatif *w, struct arrivals *arrivals, struct holders *holders);

/* After the replay: by how many ns the last thread's last call would end earlier. */
uint64_t whatif_run(struct whatif *w, const struct whatif_change *change);
/* When the time of a thread outside MPI counts. */
struct whatif_stretch {
	uint64_t from_ns, to_ns;
};
struct whatif_part {
	const struct whatif_stretch
		*stretch; /* in order of time, none of which overlap; the caller's */
	uint32_t n;
	bool leads; /* the path goes on through it, whether its time counts or not */
	bool ends;  /* and may end with it */
};
/*
 * The longest path of such time through messages and collectives: how long the run, or a part of it, would take on a network whose transfers take no
 * time. Messages lead from send to receive; of collectives, those must wait that need the others' data. part: by idx of threads.
 */
uint64_t whatif_longest_ns(struct whatif *w, const struct whatif_part *part);
/* Each wait for a message (where begin_ns < on_ns <= end_ns), in order of end_ns. */
void whatif_each(struct whatif *w, void (*tell)(void *ctx, const struct whatif_dep *d), void *ctx);
/*
 * How long such a message takes once both sides are in MPI: the median of the last 31 of this very size where both were in the calls
 * that complete it when the later side had been posted; if there was none, of those that had stood still, from then on. 0: none was seen.
 */
uint64_t whatif_transfer_ns(const struct whatif *w, int64_t bytes, bool other_host);
/* Each message that is in it, as what its receive waited for. */
void whatif_messages(const struct whatif *w, void (*tell)(void *ctx, const struct whatif_dep *d),
		     void *ctx);

struct whatif_site {
	const struct func_info *func;
	struct model_site site;
};
const struct whatif_site *whatif_site(const struct whatif *w, uint32_t site);

#endif
