/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Continuation records waiting for their call. Some wait in vain: those of polls that found nothing and
 * were merged, and those of calls whose record was lost. They are dropped by the next call of the thread.
 */
#ifndef POV_LAYERS_CONTINUATION_H
#define POV_LAYERS_CONTINUATION_H

#include <stdint.h>

#include "lib/map.h"

struct pov_more;
struct arena;

struct continuations {
	struct map threads; /* tid -> struct more_thread */
};

/* Keeps a copy of a continuation record. */
void continuations_add(struct continuations *m, const struct pov_more *rec);
/*
 * Appends to *data (*bytes long, of elements of width bytes) what continues it, in arena memory.
 */
void continuations_join(const struct continuations *m, uint32_t tid, uint64_t begin_ns,
			uint8_t type, uint8_t arg, uint32_t width, struct arena *arena,
			const uint8_t **data, uint32_t *bytes);
/* A call that began then has been decoded: drops its records, and those that no call can want any more. */
void continuations_done(struct continuations *m, uint32_t tid, uint64_t begin_ns, uint8_t depth);
void continuations_release(struct continuations *m);

#endif
