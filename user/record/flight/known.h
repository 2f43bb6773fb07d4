/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a file that begins in the middle of a recording must tell of what was before, beside the tasks that there are: code mappings,
 * CPU masks, the regions that threads are in, and calls that say who the members of communicators are. It is taken from the
 * records as they come, and given out as records of the time where the file begins.
 */
#ifndef POV_RECORD_FLIGHT_KNOWN_H
#define POV_RECORD_FLIGHT_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

struct known;
struct pov_fn;
struct pov_hdr;

/* fns: recipes by row of the function table; borrowed. */
struct known *known_new(const struct pov_fn *fns, uint32_t fn_cnt);
void known_free(struct known *k);
void known_record(struct known *k, const struct pov_hdr *rec);
/* Forgets processes that are no more. */
void known_prune(struct known *k, bool (*is_gone)(void *ctx, uint32_t pid), void *ctx);
/* Gives out what was known at begin_ns. */
void known_tell(struct known *k, uint64_t begin_ns,
		void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx);
/* Calls that say who the members of communicators are, and were too many to be kept. */
uint64_t known_forgotten(const struct known *k);

#endif
