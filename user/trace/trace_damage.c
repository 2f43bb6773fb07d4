/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Damaged blocks by the time of what they held: from their own header, or, where blocks are missing altogether
 * (the scan found a hole), from the blocks around. The recorder writes a block out FLUSH_NS after its
 * first record at the latest, so neighbours in the file are neighbours in time.
 */
#include "trace/trace_damage.h"

#include <stdlib.h>

#include "base/log.h"
#include "trace/trace_file.h"
#include "trace/trace_joined.h"

#define FLUSH_NS UINT64_C(2000000000)

static uint64_t less(uint64_t ns, uint64_t by)
{
	return ns > by ? ns - by : 0;
}

static uint64_t more(uint64_t ns, uint64_t by)
{
	return ns < UINT64_MAX - by ? ns + by : UINT64_MAX;
}

/* The nearest event block before (step -1) or behind (step 1) index i; NULL at the file's ends. */
static const struct block_ref *neighbour(const struct trace *t, size_t i, int step)
{
	for (; i < t->nrefs; i += (size_t)step) { /* below 0 it wraps, and ends, too */
		if (t->ref[i].h.type == TRACE_BLOCK_EVENTS)
			return &t->ref[i];
	}
	return NULL;
}

/* Blocks are missing between ref i - 1 and ref i. */
static struct trace_damage missing_before(const struct trace *t, size_t i)
{
	const struct block_ref *before = neighbour(t, i - 1, -1), *behind = neighbour(t, i, 1);

	return (struct trace_damage){
		.id = (uint64_t)i << 1 | 1,
		.from_ns = before ? less(before->h.min_ts, FLUSH_NS) : 0,
		.to_ns = behind ? more(behind->h.max_ts, FLUSH_NS) : UINT64_MAX,
		.stream = TRACE_DAMAGE_ANY,
		.guessed = true,
	};
}

size_t trace_damage_list(const struct trace *t, struct trace_damage **out)
{
	struct trace_damage *list;
	size_t i, n = 0;

	if (t->joined)
		return joined_damage(t->joined, out);
	list = xcalloc(2 * t->nrefs + 1, sizeof(*list));
	for (i = 0; i < t->nrefs; i++) {
		const struct trace_block_header *h = &t->ref[i].h;

		if (t->ref[i].missing_before)
			list[n++] = missing_before(t, i);
		if (!t->ref[i].bad || h->type != TRACE_BLOCK_EVENTS)
			continue;
		list[n++] = (struct trace_damage){
			.id = (uint64_t)i << 1,
			.from_ns = h->min_ts,
			.to_ns = h->max_ts,
			.stream = h->stream,
		};
	}
	*out = list;
	return n;
}
