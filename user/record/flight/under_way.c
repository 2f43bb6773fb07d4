/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A spin under way changes with every poll, and what is counted with every call: they are taken as they were read last, and their counts
 * may have what happened until then, about a millisecond.
 */
#include "record/flight/under_way.h"

#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/log.h"

void under_way_init(struct under_way *u, uint64_t at_ns)
{
	*u = (struct under_way){.at_ns = at_ns};
}

static uint16_t counted_func(const struct pov_hdr *rec)
{
	return rec->kind == POV_KIND_COUNTED ? ((const struct pov_counted *)rec)->func : 0;
}

static struct under_way_one *find(struct under_way *u, const struct pov_hdr *rec, uint64_t begin_ns)
{
	for (size_t i = 0; i < u->cnt; i++)
		if (u->one[i].begin_ns == begin_ns && u->one[i].rec->tid == rec->tid &&
		    u->one[i].rec->kind == rec->kind &&
		    counted_func(u->one[i].rec) == counted_func(rec))
			return &u->one[i];
	return NULL;
}

static struct pov_hdr *copy(const struct pov_hdr *rec, size_t bytes)
{
	struct pov_hdr *to = memcpy(xmalloc(bytes), rec, bytes);

	to->size = (uint16_t)bytes;
	return to;
}

static void add(struct under_way *u, struct pov_hdr *rec, uint64_t begin_ns, bool sure)
{
	if (u->cnt == u->cap) {
		u->cap = u->cap ? 2 * u->cap : 64;
		u->one = xrealloc(u->one, u->cap * sizeof(*u->one));
	}
	u->one[u->cnt++] = (struct under_way_one){rec, begin_ns, sure};
}

/* A record's third word is how long it took. */
static uint64_t begin_of(const struct pov_hdr *rec)
{
	return rec->ts_ns - ((const struct pov_call *)rec)->dur_ns;
}

static void spin_add(struct under_way *u, const struct pov_hdr *rec, uint64_t begin_ns)
{
	struct pov_spin *spin = (struct pov_spin *)copy(rec, rec->size);

	spin->hdr.flags |= POV_SPIN_OPEN;
	if (spin->hdr.ts_ns > u->at_ns)
		spin->hdr.ts_ns = u->at_ns;
	spin->dur_ns = spin->hdr.ts_ns - begin_ns;
	add(u, &spin->hdr, begin_ns, true);
}

static void counted_add(struct under_way *u, const struct pov_hdr *rec, uint64_t begin_ns)
{
	struct pov_counted *c = (struct pov_counted *)copy(rec, rec->size);

	if (c->hdr.ts_ns > u->at_ns)
		c->hdr.ts_ns = u->at_ns;
	c->dur_ns = c->hdr.ts_ns - begin_ns;
	add(u, &c->hdr, begin_ns, true);
}

void under_way_open(void *ctx, const struct pov_hdr *rec)
{
	uint64_t begin_ns = begin_of(rec);
	struct under_way *u = ctx;
	struct under_way_one *one;

	if (begin_ns >= u->at_ns)
		return;
	if (rec->kind == POV_KIND_SPIN) {
		if (u->second)
			spin_add(u, rec, begin_ns);
		return;
	}
	if (rec->kind == POV_KIND_COUNTED) {
		if (u->second)
			counted_add(u, rec, begin_ns);
		return;
	}
	one = find(u, rec, begin_ns);
	if (!one && !u->second)
		add(u, copy(rec, rec->size), begin_ns, false);
	else if (one && one->rec->size == rec->size)
		one->sure = !memcmp(one->rec, rec, rec->size);
}

void under_way_again(struct under_way *u)
{
	u->second = true;
}

/* As far as it was known when it began: what was read when it returned is of later. */
static struct pov_hdr *call_reopen(const struct pov_call *c, uint64_t at_ns, uint64_t begin_ns)
{
	struct pov_hdr *rec = copy(&c->hdr, sizeof(*c) + 8u * c->nargs);
	struct pov_call *open = (struct pov_call *)rec;

	rec->flags = (rec->flags & POV_CALL_PRELOADED) | POV_CALL_OPEN;
	rec->ts_ns = at_ns;
	open->dur_ns = at_ns - begin_ns;
	open->ret = 0;
	return rec;
}

void under_way_record(struct under_way *u, const struct pov_hdr *rec)
{
	bool is_call = rec->kind == POV_KIND_CALL && !(rec->flags & POV_CALL_END_ONLY);
	bool grows = rec->kind == POV_KIND_SPIN || rec->kind == POV_KIND_COUNTED;
	struct under_way_one *one;
	uint64_t begin_ns;

	if (!is_call && !grows)
		return;
	begin_ns = begin_of(rec);
	one = begin_ns < u->at_ns ? find(u, rec, begin_ns) : NULL;
	if (rec->ts_ns < u->at_ns) { /* in the file as it ended, which is told after it was read */
		if (one && grows)
			one->sure = false;
		return;
	}
	if (begin_ns >= u->at_ns || (one && one->sure))
		return;
	if (rec->kind == POV_KIND_SPIN) {
		spin_add(u, rec, begin_ns);
	} else if (rec->kind == POV_KIND_COUNTED) {
		counted_add(u, rec, begin_ns);
	} else if (one) {
		free(one->rec);
		one->rec = call_reopen((const struct pov_call *)rec, u->at_ns, begin_ns);
		one->sure = true;
	} else {
		add(u, call_reopen((const struct pov_call *)rec, u->at_ns, begin_ns), begin_ns,
		    true);
	}
}

/* Inner ones began later. */
static int inner_first(const void *va, const void *vb)
{
	const struct under_way_one *a = va, *b = vb;

	return a->begin_ns > b->begin_ns ? -1 : a->begin_ns < b->begin_ns;
}

uint64_t under_way_tell(struct under_way *u, void (*fn)(void *ctx, const struct pov_hdr *rec),
			void *ctx)
{
	uint64_t calls = 0;

	if (u->cnt)
		qsort(u->one, u->cnt, sizeof(*u->one), inner_first);
	for (size_t i = 0; i < u->cnt; i++) {
		if (u->one[i].sure) {
			fn(ctx, u->one[i].rec);
			calls += u->one[i].rec->kind == POV_KIND_CALL;
		}
		free(u->one[i].rec);
	}
	free(u->one);
	return calls;
}
