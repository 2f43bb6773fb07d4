/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls and spins that are under way at a moment while recording goes on. The kernel half's states change meanwhile, so they are read
 * twice: what is the same both times was not being changed. What is not has returned since, and its record, which comes by the
 * rings, tells as much.
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
	bool second; /* being read for the second time */
};

void under_way_init(struct under_way *u, uint64_t at_ns);
/* Something that is under way, as it was read; ctx: the struct under_way. */
void under_way_open(void *ctx, const struct pov_hdr *rec);
/* All has been read once; from now on it is read again. */
void under_way_again(struct under_way *u);
/* A record that has come since. */
void under_way_record(struct under_way *u, const struct pov_hdr *rec);
/* Hands each as a record that ends at that moment and is flagged OPEN to fn, inner ones first; the number of calls. Releases. */
uint64_t under_way_tell(struct under_way *u, void (*fn)(void *ctx, const struct pov_hdr *rec),
			void *ctx);

#endif
