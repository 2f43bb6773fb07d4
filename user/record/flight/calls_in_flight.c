/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An open spin changes with every poll, and counted calls with every call. They are taken as last
 * read, so their counts may include about a millisecond after the moment.
 */
#include "record/flight/calls_in_flight.h"

#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/log.h"
#include "lib/table.h"

void calls_in_flight_init(struct calls_in_flight *u, uint64_t at_ns)
{
	*u = (struct calls_in_flight){.at_ns = at_ns};
}

static uint16_t counted_func(const struct pov_hdr *rec)
{
	return rec->kind == POV_KIND_COUNTED ? ((const struct pov_counted *)rec)->func : 0;
}

static struct call_in_flight *one_find(struct calls_in_flight *u, const struct pov_hdr *rec,
				       uint64_t begin_ns)
{
	for (size_t i = 0; i < u->cnt; i++)
		if (u->one[i].begin_ns == begin_ns && u->one[i].rec->tid == rec->tid &&
		    u->one[i].rec->kind == rec->kind &&
		    counted_func(u->one[i].rec) == counted_func(rec))
			return &u->one[i];
	return NULL;
}

static struct pov_hdr *record_copy(const struct pov_hdr *rec, size_t bytes)
{
	struct pov_hdr *to = memcpy(xmalloc(bytes), rec, bytes);

	to->size = (uint16_t)bytes;
	return to;
}

static void one_add(struct calls_in_flight *u, struct pov_hdr *rec, uint64_t begin_ns, bool sure)
{
	*table_add(u->one, u->cnt, u->cap) = (struct call_in_flight){rec, begin_ns, sure};
}

/* The duration is the third word of all these records. */
static uint64_t begin_of(const struct pov_hdr *rec)
{
	return rec->ts_ns - ((const struct pov_call *)rec)->dur_ns;
}

static void spin_add(struct calls_in_flight *u, const struct pov_hdr *rec, uint64_t begin_ns)
{
	struct pov_spin *spin = (struct pov_spin *)record_copy(rec, rec->size);

	spin->hdr.flags |= POV_SPIN_OPEN;
	spin->hdr.ts_ns = u64_min(spin->hdr.ts_ns, u->at_ns);
	spin->dur_ns = spin->hdr.ts_ns - begin_ns;
	one_add(u, &spin->hdr, begin_ns, true);
}

static void counted_add(struct calls_in_flight *u, const struct pov_hdr *rec, uint64_t begin_ns)
{
	struct pov_counted *c = (struct pov_counted *)record_copy(rec, rec->size);

	c->hdr.ts_ns = u64_min(c->hdr.ts_ns, u->at_ns);
	c->dur_ns = c->hdr.ts_ns - begin_ns;
	one_add(u, &c->hdr, begin_ns, true);
}

void calls_in_flight_open(void *ctx, const struct pov_hdr *rec)
{
	uint64_t begin_ns = begin_of(rec);
	struct calls_in_flight *u = ctx;
	struct call_in_flight *one;

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
	one = one_find(u, rec, begin_ns);
	if (!one && !u->second)
		one_add(u, record_copy(rec, rec->size), begin_ns, false);
	else if (one && one->rec->size == rec->size)
		one->sure = !memcmp(one->rec, rec, rec->size);
}

void calls_in_flight_read_again(struct calls_in_flight *u)
{
	u->second = true;
}

/* Returns an open call as it was known at its begin, without what was read at its return. */
static struct pov_hdr *call_reopen(const struct pov_call *c, uint64_t at_ns, uint64_t begin_ns)
{
	struct pov_hdr *rec = record_copy(&c->hdr, sizeof(*c) + 8u * c->nargs);
	struct pov_call *open = (struct pov_call *)rec;

	rec->flags = (rec->flags & POV_CALL_PRELOADED) | POV_CALL_OPEN;
	rec->ts_ns = at_ns;
	open->dur_ns = at_ns - begin_ns;
	open->ret = 0;
	return rec;
}

void calls_in_flight_record(struct calls_in_flight *u, const struct pov_hdr *rec)
{
	bool is_call = rec->kind == POV_KIND_CALL && !(rec->flags & POV_CALL_END_ONLY);
	bool grows = rec->kind == POV_KIND_SPIN || rec->kind == POV_KIND_COUNTED;
	struct call_in_flight *one;
	uint64_t begin_ns;

	if (!is_call && !grows)
		return;
	begin_ns = begin_of(rec);
	one = begin_ns < u->at_ns ? one_find(u, rec, begin_ns) : NULL;
	if (rec->ts_ns < u->at_ns) { /* the record with its end is already in the file */
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
		one_add(u, call_reopen((const struct pov_call *)rec, u->at_ns, begin_ns), begin_ns,
			true);
	}
}

/* Sorts inner calls first: they began later. */
TABLE_ORDER(inner_first, struct call_in_flight, table_compare(b->begin_ns, a->begin_ns))

uint64_t calls_in_flight_write(struct calls_in_flight *u,
			       void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx)
{
	uint64_t calls = 0;

	table_sort(u->one, u->cnt, inner_first);
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
