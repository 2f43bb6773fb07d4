/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Time that a run spent in blocking collectives, by function, number of members and message size
 * (in classes from one power of two to the next). Only the collective's own time counts. In each
 * member's call it starts with the last member's arrival before the call's end. Waiting for late
 * members is therefore excluded.
 */
#ifndef POV_ADVISE_COLLECTIVE_CALLS_H
#define POV_ADVISE_COLLECTIVE_CALLS_H

#include "analysis/arrivals.h"

struct collective_cell {
	const char *function; /* "MPI_Allreduce" */
	/*
	 * "allreduce", as in povbench and in the libraries' settings; NULL: povbench does not
	 * measure it.
	 */
	const char *collective;
	uint32_t ranks; /* number of members */
	bool several_hosts;
	uint64_t calls; /* one call of all members counts once */
	/* Message size; for functions with a block per rank, the size of a rank's block. */
	uint64_t bytes_min, bytes_max;
	double bytes_sum;
	uint64_t own_ns; /* sum over all members */
};

struct collective_member {
	uint64_t begin_ns;
	uint32_t thread, cell;
};

struct collective_calls {
	struct arrivals arrivals;
	struct collective_cell *cell; /* owned */
	uint32_t ncell;
	struct map by_key; /* → index of the cell + 1 */
	/* sorted by thread and begin after collective_calls_settle(); owned */
	struct collective_member *member;
	uint32_t nmember;
	/* Some calls were left out because the length of their messages is unknown. */
	bool unsized;
};

void collective_calls_init(struct collective_calls *c);
void collective_calls_release(struct collective_calls *c);
/* Call once, after the replay. */
void collective_calls_settle(struct collective_calls *c);
/* Returns the cell of the call that a thread began at begin_ns; NULL: the call is in no cell. */
const struct collective_cell *collective_calls_of(const struct collective_calls *c, uint32_t thread,
						  uint64_t begin_ns);

#endif
