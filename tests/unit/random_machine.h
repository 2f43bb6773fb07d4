/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A made-up machine: threads that live, run, wait, call, post, poll and enter regions at random. It writes the records of that, some of
 * which it loses if it is told to, and keeps the truth.
 */
#ifndef POV_TESTS_RANDOM_MACHINE_H
#define POV_TESTS_RANDOM_MACHINE_H

#include "unit/model_fixture.h"

#define CPUS 4
#define TIDS 40
#define FIRST_TID 100
#define ROOT_TID 100
#define LIVES_MAX 4000
#define EVENTS_MAX 60000
#define START 1000
#define REGION_DEPTH 3
#define POSTS_MAX 3 /* of a call */

enum { RUN = THREAD_RUNNING, QUEUE = THREAD_RUNNABLE, SLEEP = THREAD_BLOCKED, GONE = THREAD_DEAD };

/* One life of a tid. */
struct life {
	uint32_t tid, tgid;
	uint64_t start, end, since;
	int state;
	uint16_t cpu;
	struct state_times times;
	bool exiting;
	int depth; /* calls in flight */
	struct {
		uint64_t begin;
		struct state_times at_begin;
		bool announced, is_top;
	} call[4];
	int regions; /* under way, one in the other */
	struct {
		uint64_t begin;
		struct state_times at_begin;
	} region[REGION_DEPTH];
	bool spinning;
	uint64_t spin_begin;
	struct state_times at_spin;
	uint64_t last_begin; /* told by the model */
};

/* The truth about a call, spin or region, found again by thread, kind and begin. */
struct event {
	uint32_t tid;
	uint64_t begin, end;
	enum event_kind { CALL, SPIN, REGION } kind;
	bool told;
	struct state_times split;
};

/* The truth about a post, whose id is its index. */
struct post {
	uint32_t tid;
	uint64_t within;    /* begin of the outermost call of MPI around it; 0: none */
	uint64_t outermost; /* begin of the outermost call of all; 0: none */
	int64_t bytes;
	bool told;
};

struct machine {
	uint64_t random;
	uint64_t now;
	struct life life[LIVES_MAX];
	uint32_t nlives;
	struct life *by_tid[TIDS]; /* the living one */
	struct life *on_cpu[CPUS]; /* NULL: idle */
	struct event event[EVENTS_MAX];
	uint32_t nevents, nregion_events;
	struct post post[EVENTS_MAX];
	uint32_t nposts;
	struct mfix f;
	/* losses */
	bool lossy;			      /* records may be missing */
	bool damaged;			      /* because a block of the file is */
	uint64_t gap_begin[CPUS], lost[CPUS]; /* gap_begin 0: none open */
	uint64_t known_running;		      /* told by the model, over all threads but idle */
	uint64_t ordered, last_ordered;	      /* told in order of begin; begin of the last */
};

/* Between mfix_begin and mfix_end of s->f; random, lossy and damaged are the caller's. */
void machine_run(struct machine *s, int steps);
/* What a thread did until now counts; from now on it is in that state. */
void machine_to_state(struct machine *s, struct life *t, int state);

#endif
