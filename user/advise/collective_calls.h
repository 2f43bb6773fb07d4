/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where a run's time in blocking collectives went: by function, members and message size (a power of two to the next), how much of it was the
 * collective's own. That is, of each member's call, from when the last of those had come that came before its end: waiting for late
 * members is not in it.
 */
#ifndef POV_ADVISE_COLLECTIVE_CALLS_H
#define POV_ADVISE_COLLECTIVE_CALLS_H

#include "analysis/arrivals.h"

struct collective_cell {
	const char *function; /* "MPI_Allreduce" */
	const char *
		collective; /* as povbench and libraries' settings name it, "allreduce"; NULL: povbench does not measure it */
	uint32_t ranks; /* members */
	bool several_hosts;
	uint64_t calls;		       /* of all members together one */
	uint64_t bytes_min, bytes_max; /* of a message: a rank's block where each has one */
	double bytes_sum;
	uint64_t own_ns; /* of all members */
};

struct collective_member {
	uint64_t begin_ns;
	uint32_t thread, cell;
};

struct collective_calls {
	struct arrivals arrivals;
	struct collective_cell *cell; /* owned */
	uint32_t ncell;
	struct map by_key;		  /* → index + 1 */
	struct collective_member *member; /* by thread and begin, once settled; owned */
	size_t nmember, room;
	bool unsized; /* some were left out: how long their messages were is not known */
};

void collective_calls_init(struct collective_calls *c);
void collective_calls_release(struct collective_calls *c);
/* Once, after the replay. */
void collective_calls_settle(struct collective_calls *c);
/* The cell of the call that a thread began then; NULL: it was in none. */
const struct collective_cell *collective_calls_of(const struct collective_calls *c, uint32_t thread,
						  uint64_t begin_ns);

#endif
