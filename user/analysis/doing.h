/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What threads did in stretches of their lives: outside MPI, working in a call of it, or polling there. A call is known when it has
 * ended, which may be long after a stretch that lies in it: a stretch is told once all calls that can lie in it are known. The
 * outermost call says it; from the first to the last of polls that found nothing a thread polls.
 */
#ifndef POV_ANALYSIS_DOING_H
#define POV_ANALYSIS_DOING_H

#include "model/model.h"

enum doing {
	DOING_OWN,     /* outside MPI */
	DOING_WORK,    /* in a call of MPI that does not wait */
	DOING_POLL,    /* in a call that waits, or one that found nothing after the other */
	DOING_UNKNOWN, /* records of calls are missing */
	DOING_CNT,
};

struct stretch {
	const struct model_thread *thread;
	uint64_t from_ns, to_ns;
	uint64_t ns[DOING_CNT];	      /* once it is told: they add up to its length */
	const struct func_info *func; /* of the call that took most of it, or NULL */
	uint64_t func_ns;
	void *user;	      /* whose stretch it is */
	struct stretch *next; /* of the same thread */
};

/* Of a thread, those that are not known yet. More would be calls of minutes in which it changes its state all the time. */
#define DOING_KEPT_MAX 65536
#define DOING_KEPT_MAX_OWN 1024 /* of a thread that has made no call so far */

struct doing_thread;

struct doings {
	struct doing_thread *thread; /* by idx; owned */
	uint32_t nthread;
	void (*known)(void *ctx, const struct stretch *s); /* which is freed then */
	void *ctx;
};

void doings_init(struct doings *a, void (*known)(void *ctx, const struct stretch *s), void *ctx);
void doings_release(struct doings *a);
/* A stretch that has just ended: all running since it got a CPU, or all waiting for one. Nothing else is told meanwhile. */
void doings_ask(struct doings *a, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		void *user);
/* What the model's sinks are told. */
void doings_call(struct doings *a, const struct model_call *c);
void doings_spin(struct doings *a, const struct model_spin *s);
void doings_lost(struct doings *a, const struct model_lost *l);
void doings_exit(struct doings *a, const struct model_thread *t);
void doings_finish(struct doings *a);

#endif
