/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The state that a file needs if it begins in the middle of a recording, besides the existing
 * tasks: code mappings, CPU masks, open regions of threads, and calls that define the members of
 * communicators. It is collected from the records as they arrive, and written as records at the
 * time at which the file begins.
 */
#ifndef POV_RECORD_FLIGHT_FLIGHT_STATE_H
#define POV_RECORD_FLIGHT_FLIGHT_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct flight_state;
struct pov_fn;
struct pov_hdr;

/* fns are the recipes by row of the function table; borrowed. */
struct flight_state *flight_state_new(const struct pov_fn *fns, uint32_t fn_cnt);
void flight_state_free(struct flight_state *k);
void flight_state_record(struct flight_state *k, const struct pov_hdr *rec);
/* Forgets processes that have ended. */
void flight_state_prune(struct flight_state *k, bool (*is_gone)(void *ctx, uint32_t pid),
			void *ctx);
/* Passes the state at begin_ns to fn, as records. */
void flight_state_write(struct flight_state *k, uint64_t begin_ns,
			void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx);
/* Returns how many calls that define communicators were dropped because there were too many. */
uint64_t flight_state_forgotten(const struct flight_state *k);

#endif
