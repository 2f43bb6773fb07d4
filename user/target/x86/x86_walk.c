/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A place joins the states of all paths to it. Paths go on from a place whenever its state has
 * changed, until nothing changes any more.
 */
#include "target/x86/x86_walk.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"

struct x86_place {
	uint64_t addr;
	bool queued;
	uint64_t state[]; /* domain->bytes */
};

/* Returns an address's offset in the ranges, or their size: it is in none. */
static size_t walk_offset(const struct x86_walk *w, uint64_t addr)
{
	size_t before = 0;

	for (size_t i = 0; i < w->range_cnt; i++) {
		if (addr >= w->range[i].start && addr < w->range[i].end)
			return before + (addr - w->range[i].start);
		before += w->range[i].end - w->range[i].start;
	}
	return before;
}

static size_t walk_bytes(const struct x86_walk *w)
{
	size_t bytes = 0;

	for (size_t i = 0; i < w->range_cnt; i++)
		bytes += w->range[i].end - w->range[i].start;
	return bytes;
}

static void place_queue(struct x86_walk *w, struct x86_place *p)
{
	if (p->queued)
		return;
	p->queued = true;
	*table_add(w->queue, w->queue_cnt, w->queue_room) = p;
}

void x86_walk_reach(struct x86_walk *w, uint64_t addr, const void *state)
{
	size_t bytes = walk_bytes(w), offset = walk_offset(w, addr);
	struct x86_place *p;

	if (offset == bytes)
		return;
	if (!w->place)
		w->place = xcalloc(bytes, sizeof(*w->place));
	p = w->place[offset];
	if (p) {
		if (w->domain->join(p->state, state))
			place_queue(w, p);
		return;
	}
	p = w->place[offset] = xcalloc(1, sizeof(*p) + w->domain->bytes);
	p->addr = addr;
	memcpy(p->state, state, w->domain->bytes);
	place_queue(w, p);
}

static void place_leave(struct x86_walk *w, const struct x86_place *p, void *state)
{
	struct x86_insn insn;
	enum x86_next next;
	uint64_t to;

	memcpy(state, p->state, w->domain->bytes);
	if (!x86_decode(w->reader, p->addr, &insn) || !w->domain->step(w->ctx, &insn, state))
		return;
	next = x86_next_of(&insn, &to);
	if (next == X86_JUMPS || next == X86_BRANCHES)
		x86_walk_reach(w, to, state);
	if (next == X86_GOES_ON || next == X86_BRANCHES)
		x86_walk_reach(w, p->addr + insn.z.length, state);
}

bool x86_walk_run(struct x86_walk *w, uint64_t steps_max)
{
	void *state = xmalloc(w->domain->bytes);

	while (w->queue_cnt && steps_max--) {
		struct x86_place *p = w->queue[--w->queue_cnt];

		p->queued = false;
		place_leave(w, p, state);
	}
	free(state);
	return !w->queue_cnt;
}

const void *x86_walk_state(const struct x86_walk *w, uint64_t addr)
{
	size_t offset = walk_offset(w, addr);

	return w->place && offset < walk_bytes(w) && w->place[offset] ? w->place[offset]->state :
									NULL;
}

void x86_walk_release(struct x86_walk *w)
{
	size_t bytes = w->place ? walk_bytes(w) : 0;

	for (size_t i = 0; i < bytes; i++)
		free(w->place[i]);
	free(w->place);
	free(w->queue);
}
