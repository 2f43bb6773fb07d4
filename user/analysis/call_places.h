/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds in which calls ranks spent their time in MPI, by function and call site. Time without a
 * core and waiting for late ranks are left out: what remains is what the calls themselves took.
 */
#ifndef POV_ANALYSIS_CALL_PLACES_H
#define POV_ANALYSIS_CALL_PLACES_H

#include "analysis/app_time.h"
#include "analysis/causes.h"
#include "lib/map.h"

/* The account has a class for each. */
enum call_work {
	CALL_WAITS, /* calls that wait for messages or other ranks */
	CALL_FILE_IO,
	CALL_WORKS, /* all others */
	CALL_WORK_KINDS,
};

struct call_place {
	struct cause_place at;
	uint64_t ns;	    /* in calls, and in polls that these ended */
	uint64_t waited_ns; /* part of ns in which other ranks were late */
	uint64_t calls;
	/*
	 * bytes that the calls sent, or received if they sent nothing; number of calls with known
	 * bytes
	 */
	uint64_t bytes, sized;
	/* requests that the calls named, and the messages of known size that they completed */
	uint64_t requests, messages, message_bytes;
};

struct call_places {
	/* must run after the sinks of app and causes */
	struct model_sink sink;
	const struct app_time *app;	/* the caller's */
	struct causes *causes;		/* the caller's */
	struct map at[CALL_WORK_KINDS]; /* place → struct call_place, owned */
	/* by idx of threads: waiting whose call has not ended yet; owned */
	uint64_t *waited_ns;
	uint32_t nthread;
	struct call_place **last; /* by idx of threads: place of its last call, or NULL; owned */
	uint32_t nlast;
};

void call_places_init(struct call_places *a, const struct app_time *app, struct causes *causes);
void call_places_release(struct call_places *a);
/* The place with the most time. *of_ns: time at all places. NULL: no call took time. */
const struct call_place *call_places_most(const struct call_places *a, enum call_work kind,
					  uint64_t *of_ns);
/* Time of the calls at a place without waiting for late ranks. */
uint64_t call_place_own_ns(const struct call_place *p);

#endif
