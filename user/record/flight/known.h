/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The state that a file needs which begins in the middle of a recording, besides the existing
 * tasks: code mappings, CPU masks, open regions of threads, and calls that define the members of
 * communicators. It is collected from the records as they arrive, and written as records at the
 * time at which the file begins.
 */
#ifndef POV_RECORD_FLIGHT_KNOWN_H
#define POV_RECORD_FLIGHT_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

struct known;
struct pov_fn;
struct pov_hdr;

/* fns are the recipes by row of the function table; borrowed. */
struct known *known_new(const struct pov_fn *fns, uint32_t fn_cnt);
void known_free(struct known *k);
void known_record(struct known *k, const struct pov_hdr *rec);
/* Forgets processes that have ended. */
void known_prune(struct known *k, bool (*is_gone)(void *ctx, uint32_t pid), void *ctx);
/* Passes the state at begin_ns to fn, as records. */
void known_tell(struct known *k, uint64_t begin_ns,
		void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx);
/* Returns how many calls that define communicators were dropped because there were too many. */
uint64_t known_forgotten(const struct known *k);

#endif
