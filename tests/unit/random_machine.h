/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An artificial machine: threads that live, run, wait, call, post, poll and enter regions at
 * random. It writes the records of that and keeps the truth. It may lose some records.
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
#define POSTS_MAX 3 /* per call */

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
	int regions; /* nested regions in progress */
	struct {
		uint64_t begin;
		struct state_times at_begin;
	} region[REGION_DEPTH];
	bool spinning;
	uint64_t spin_begin;
	struct state_times at_spin;
	uint64_t last_begin; /* as reported by the model */
};

/* The truth about a call, spin or region. It is found by thread, kind and begin. */
struct event {
	uint32_t tid;
	uint64_t begin, end;
	enum event_kind { CALL, SPIN, REGION } kind;
	bool reported;
	struct state_times split;
};

/* The truth about a post. Its id is its index. */
struct post {
	uint32_t tid;
	/* Begin of the outermost MPI call around it; 0: none. */
	uint64_t within;
	uint64_t outermost; /* begin of the outermost call around it; 0: none */
	int64_t bytes;
	bool reported;
};

struct machine {
	uint64_t random;
	uint64_t now;
	struct life life[LIVES_MAX];
	uint32_t nlives;
	struct life *by_tid[TIDS]; /* the living thread with that tid */
	struct life *on_cpu[CPUS]; /* NULL: idle */
	struct event event[EVENTS_MAX];
	uint32_t nevents, nregion_events;
	struct post post[EVENTS_MAX];
	uint32_t nposts;
	struct mfix f;
	/* Losses. */
	bool lossy;			      /* records may be missing */
	bool damaged;			      /* the reason is a damaged block of the file */
	uint64_t gap_begin[CPUS], lost[CPUS]; /* gap_begin 0: no open gap */
	/* Running time reported by the model, over all threads except idle. */
	uint64_t known_running;
	/* Events reported in order of begin, and the begin of the last one. */
	uint64_t ordered, last_ordered;
};

/* Call between mfix_begin and mfix_end of s->f. The caller sets random, lossy and damaged. */
void machine_run(struct machine *s, int steps);
/* Adds up the thread's state until now and puts it into the given state. */
void machine_to_state(struct machine *s, struct life *t, int state);

#endif
