/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A frame already holds the record of its call up to now, so only the end is added. */
#include "record/open_calls.h"

#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "abi/thread.h"
#include "lib/log.h"
#include "lib/table.h"
#include "record/kernel.h"

struct reading {
	uint64_t end_ns, calls;
	void (*fn)(void *ctx, const struct pov_hdr *rec);
	void *ctx;
};

static void spin_give(struct reading *r, struct pov_spin *s)
{
	s->hdr.size = sizeof(*s) + s->nfuncs * sizeof(struct pov_spin_func);
	s->hdr.flags = POV_SPIN_OPEN;
	r->fn(r->ctx, &s->hdr);
}

/*
 * Splits a spin into the polls before the enclosing call began and those since (like spin_split of
 * the kernel half).
 */
static void spin_split(struct reading *r, struct pov_spin *s, const struct pov_spin_mark *mark)
{
	uint64_t end_ns = s->hdr.ts_ns, begin_ns = end_ns - s->dur_ns;
	struct pov_spin_open rest;
	struct pov_spin *later = (struct pov_spin *)rest.rec;
	unsigned int n = s->nfuncs;

	*later = *s;
	s->nfuncs = later->nfuncs = 0;
	for (unsigned int i = 0; i < n; i++) {
		struct pov_spin_func f = s->func[i];

		f.cnt -= mark->cnt[i];
		f.busy_ns -= mark->busy_ns[i];
		if (f.cnt)
			later->func[later->nfuncs++] = f;
		s->func[i].cnt = mark->cnt[i];
		s->func[i].busy_ns = mark->busy_ns[i];
		s->nfuncs += mark->cnt[i] != 0;
	}
	s->hdr.ts_ns = mark->end_ns;
	s->dur_ns = mark->end_ns - begin_ns;
	later->dur_ns = end_ns - mark->begin_ns;
	spin_give(r, s);
	if (later->nfuncs)
		spin_give(r, later);
}

static void spin_read(struct reading *r, struct pov_thread *t, uint32_t depth)
{
	const struct pov_spin_mark *mark = &t->spin[depth].mark;
	struct pov_spin *s = (struct pov_spin *)t->spin[depth].rec;

	if (!s->nfuncs || s->nfuncs > POV_SPIN_FUNCS_MAX)
		return;
	if (depth && t->depth >= depth && mark->begin_ns &&
	    mark->begin_ns >= ((struct pov_call *)t->frame[depth - 1].rec)->hdr.ts_ns)
		spin_split(r, s, mark);
	else
		spin_give(r, s);
}

static void call_read(struct reading *r, struct pov_frame *f)
{
	struct pov_call *c = (struct pov_call *)f->rec;

	if (f->used < sizeof(*c) || f->used > POV_FRAME_FULL)
		return;
	c->hdr.size = f->used;
	c->hdr.flags |= POV_CALL_OPEN;
	c->dur_ns = r->end_ns - c->hdr.ts_ns;
	c->hdr.ts_ns = r->end_ns;
	c->ret = 0;
	r->fn(r->ctx, &c->hdr);
	r->calls++;
}

/* Writes the counted calls of one function. An open call is included up to now. */
static void counted_read(struct reading *r, const struct pov_thread *t,
			 const struct pov_counting *c)
{
	const struct pov_counted counted = {
		.hdr = {.size = sizeof(counted),
			.kind = POV_KIND_COUNTED,
			.flags = (uint8_t)c->nested,
			.tid = t->tid,
			.ts_ns = c->end_ns},
		.dur_ns = c->end_ns - c->begin_ns,
		.calls = c->calls,
		.busy_ns = c->busy_ns,
		.tgid = t->tgid,
		.func = c->func,
		.lib = c->lib,
		.bytes = c->bytes,
		/* the thread may be changing it */
		.sized = c->sized < c->calls ? c->sized : c->calls,
	};

	r->fn(r->ctx, &counted.hdr);
}

static void counted_open_read(struct reading *r, const struct pov_thread *t, uint32_t depth)
{
	const struct pov_call *c = (const struct pov_call *)t->frame[depth].rec;
	uint64_t bytes = t->frame[depth].bytes;
	bool sized = bytes != POV_COUNTED_UNSIZED;
	const struct pov_counting one = {
		.begin_ns = c->hdr.ts_ns,
		.end_ns = c->hdr.ts_ns,
		.calls = 1,
		.bytes = sized ? bytes : 0,
		.sized = sized,
		.func = c->func,
		.lib = c->lib,
		.nested = depth ? POV_COUNTED_NESTED : 0,
	};

	counted_read(r, t, &one);
}

/* Inner calls come first, as they would have ended. */
static void on_thread(void *ctx, const void *item)
{
	struct pov_thread t = *(const struct pov_thread *)item;

	if (t.depth > POV_CALL_DEPTH_MAX)
		t.depth = 0;
	for (uint32_t i = 0; i < POV_COUNTING_MAX && t.counting[i].calls; i++)
		counted_read(ctx, &t, &t.counting[i]);
	for (uint32_t d = POV_CALL_DEPTH_MAX; d-- > 0;) {
		if (t.spinning >> d & 1)
			spin_read(ctx, &t, d);
		if (d < t.depth && t.frame[d].counted)
			counted_open_read(ctx, &t, d);
		else if (d < t.depth)
			call_read(ctx, &t.frame[d]);
	}
}

void open_calls_of(const struct pov_thread *thread, uint64_t end_ns,
		   void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx)
{
	struct reading r = {.end_ns = end_ns, .fn = fn, .ctx = ctx};

	on_thread(&r, thread);
}

uint64_t open_calls_read(struct kernel *k, uint64_t end_ns,
			 void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx)
{
	struct reading r = {.end_ns = end_ns, .fn = fn, .ctx = ctx};

	kernel_dump_threads(k, on_thread, &r);
	return r.calls;
}

/*
 * ---- at a moment while recording continues ----
 *
 * An open spin changes with every poll, and counted calls with every call. They are taken as last
 * read, so their counts may include about a millisecond after the moment.
 */

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
	return table_where(u->one, u->cnt, i,
			   u->one[i].begin_ns == begin_ns && u->one[i].rec->tid == rec->tid &&
				   u->one[i].rec->kind == rec->kind &&
				   counted_func(u->one[i].rec) == counted_func(rec));
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
	if (rec->ts_ns < u->at_ns) { /* its record, with its end, is already in the file */
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
