/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A frame already holds the record as far as it is known; only its end is put in. */
#include "record/open_calls.h"

#include "abi/event.h"
#include "abi/thread.h"
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

/* What was polled before the enclosing call began, and what since (spin_split of the kernel half). */
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

/* A call that is under way is one of them, as far as it is known. */
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
		.sized = c->sized < c->calls ? c->sized : c->calls, /* the thread may be at it */
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

/* Inner ones first, as they would have ended. */
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
