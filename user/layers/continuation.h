/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Continuation records that wait for their call's record. Some wait in vain: those of unsuccessful
 * polls that were merged, and of calls whose record was lost. The thread's next call drops them.
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

/* Stores a copy of a continuation record. */
void continuations_add(struct continuations *m, const struct pov_more *rec);
/*
 * Appends the continuation to *data, which has *bytes bytes in elements of width bytes. The result
 * is in arena memory.
 */
void continuations_join(const struct continuations *m, uint32_t tid, uint64_t begin_ns,
			uint8_t type, uint8_t arg, uint32_t width, struct arena *arena,
			const uint8_t **data, uint32_t *bytes);
/*
 * The call with this start has been decoded: drops its records, and those that no call can need any
 * more.
 */
void continuations_done(struct continuations *m, uint32_t tid, uint64_t begin_ns, uint8_t depth);
void continuations_release(struct continuations *m);

#endif
