/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls and spins that are open at a certain moment while recording continues. The kernel half's
 * states change meanwhile, so they are read twice: a state that is the same both times was not
 * being changed. A call whose state differs has returned since, and its record from the rings has
 * the same information.
 */
#ifndef POV_RECORD_FLIGHT_UNDER_WAY_H
#define POV_RECORD_FLIGHT_UNDER_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pov_hdr;

struct under_way_one {
	struct pov_hdr *rec; /* owned */
	uint64_t begin_ns;
	bool sure;
};

struct under_way {
	uint64_t at_ns;
	struct under_way_one *one;
	size_t cnt, cap;
	bool second; /* the second reading has begun */
};

void under_way_init(struct under_way *u, uint64_t at_ns);
/* Adds an open call or spin as it was read. ctx is the struct under_way. */
void under_way_open(void *ctx, const struct pov_hdr *rec);
/* Begins the second reading. */
void under_way_again(struct under_way *u);
/* Looks at a record that has arrived since. */
void under_way_record(struct under_way *u, const struct pov_hdr *rec);
/*
 * Passes each one to fn as a record that ends at that moment and is flagged OPEN, inner calls
 * first. Returns the number of calls, and releases u.
 */
uint64_t under_way_tell(struct under_way *u, void (*fn)(void *ctx, const struct pov_hdr *rec),
			void *ctx);

#endif
