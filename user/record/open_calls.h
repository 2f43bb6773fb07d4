/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Calls and spins that are still open when the recording ends, or at a moment during it. */
#ifndef POV_RECORD_OPEN_CALLS_H
#define POV_RECORD_OPEN_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel;
struct pov_hdr;
struct pov_thread;

/*
 * Reads open calls and spins from the kernel half's thread states, after the probes are gone.
 * Passes each to fn as a finished record, flagged POV_CALL_OPEN and ended at end_ns. Returns the
 * number of open calls.
 */
uint64_t open_calls_read(struct kernel *k, uint64_t end_ns,
			 void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx);

/* Does the same for a copy of one thread's state. */
void open_calls_of(const struct pov_thread *thread, uint64_t end_ns,
		   void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx);

/*
 * ---- at a moment while recording continues ----
 *
 * The kernel half's states change meanwhile, so they are read twice: a state that is the same both
 * times was not being changed. A call whose state differs has returned since, and its record from
 * the rings has the same information.
 */

struct call_in_flight {
	struct pov_hdr *rec; /* owned */
	uint64_t begin_ns;
	bool sure;
};

struct calls_in_flight {
	uint64_t at_ns;
	struct call_in_flight *one;
	uint32_t cnt, cap;
	bool second; /* the second reading has begun */
};

void calls_in_flight_init(struct calls_in_flight *u, uint64_t at_ns);
/* Adds an open call or spin as it was read. ctx is the struct calls_in_flight. */
void calls_in_flight_open(void *ctx, const struct pov_hdr *rec);
/* Begins the second reading. */
void calls_in_flight_read_again(struct calls_in_flight *u);
/* Looks at a record that has arrived since the first reading. */
void calls_in_flight_record(struct calls_in_flight *u, const struct pov_hdr *rec);
/*
 * Passes each call and spin to fn, as a record that ends at at_ns and is flagged OPEN, inner calls
 * first. Returns the number of calls, and releases u.
 */
uint64_t calls_in_flight_write(struct calls_in_flight *u,
			       void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx);

#endif
