/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the stretches. Where blocks are missing altogether (the scan found a hole), their times are told by those around: the
 * recorder writes a block out FLUSH_NS after its first record at the latest, so neighbours in the file are
 * neighbours in time.
 */
#include "trace/trace_loss.h"

#include <stdlib.h>

#include "lib/log.h"
#include "trace/trace_file.h"
#include "trace/trace_text.h"

#define FLUSH_NS UINT64_C(2000000000)

void trace_losses_add(struct trace_losses *l, uint64_t since_ns, uint64_t until_ns, uint16_t ring)
{
	if (since_ns > until_ns)
		return;
	if (!(l->cnt & (l->cnt - 1)))
		l->loss = xrealloc(l->loss, (2 * l->cnt ?: 1) * sizeof(*l->loss));
	l->loss[l->cnt++] = (struct trace_loss){since_ns, until_ns, ring};
}

void trace_losses_of_records(struct trace_losses *l, const uint64_t *words, uint32_t nwords)
{
	const struct pov_lost *rec;

	for (uint32_t w = 0; w < nwords; w += rec->hdr.size / 8u) {
		rec = (const struct pov_lost *)&words[w];
		if (rec->hdr.kind == POV_KIND_LOST && trace_record_ok(&rec->hdr) &&
		    rec->class == POV_CLASS_SCHED)
			trace_losses_add(l, rec->since_ns, rec->hdr.ts_ns, rec->ring);
	}
}

static void hole_add(struct trace_losses *l, const struct block_ref *before,
		     const struct block_ref *behind)
{
	uint64_t since_ns = 0, until_ns = UINT64_MAX;

	if (before && before->h.min_ts > FLUSH_NS)
		since_ns = before->h.min_ts - FLUSH_NS;
	if (behind && behind->h.max_ts < UINT64_MAX - FLUSH_NS)
		until_ns = behind->h.max_ts + FLUSH_NS;
	trace_losses_add(l, since_ns, until_ns, TRACE_RING_ANY);
}

void trace_losses_of_holes(struct trace_losses *l, const struct trace *t)
{
	const struct block_ref *before = NULL;
	bool hole = false;

	for (size_t i = 0; i < t->nrefs; i++) {
		hole |= t->ref[i].missing_before;
		if (t->ref[i].h.type != TRACE_BLOCK_EVENTS)
			continue;
		if (hole)
			hole_add(l, before, &t->ref[i]);
		before = &t->ref[i];
		hole = false;
	}
	if (hole)
		hole_add(l, before, NULL);
}

struct pov_lost trace_loss_record(const struct trace_loss *l, enum pov_kind kind, uint64_t ts_ns)
{
	return (struct pov_lost){
		.hdr = {.size = sizeof(struct pov_lost), .kind = (uint8_t)kind, .ts_ns = ts_ns},
		.since_ns = l->since_ns,
		.ring = l->ring,
		.class = POV_CLASS_SCHED,
	};
}

void trace_losses_release(struct trace_losses *l)
{
	free(l->loss);
}
