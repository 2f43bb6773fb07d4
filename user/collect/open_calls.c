/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A frame already holds the record as far as it is known; only its end is put in. */
#include "collect/open_calls.h"

#include "abi/event.h"
#include "abi/thread.h"
#include "collect/kernel.h"

struct reading {
	uint64_t end_ns, calls;
	void (*fn)(void *ctx, const struct pov_hdr *rec);
	void *ctx;
};

static void spin_read(struct reading *r, struct pov_spin *s)
{
	if (!s->nfuncs || s->nfuncs > POV_SPIN_FUNCS_MAX)
		return;
	s->hdr.size = sizeof(*s) + s->nfuncs * sizeof(struct pov_spin_func);
	s->hdr.flags = POV_SPIN_OPEN;
	r->fn(r->ctx, &s->hdr);
}

static void on_thread(void *ctx, const void *item)
{
	struct pov_thread t = *(const struct pov_thread *)item;
	struct reading *r = ctx;

	spin_read(r, (struct pov_spin *)t.spin);
	if (t.depth > POV_CALL_DEPTH_MAX)
		return;
	for (uint32_t d = t.depth; d-- > 0;) { /* inner calls first, as they would have returned */
		struct pov_frame *f = &t.frame[d];
		struct pov_call *c = (struct pov_call *)f->rec;

		if (f->used < sizeof(*c) || f->used > POV_FRAME_FULL)
			continue;
		c->hdr.size = f->used;
		c->hdr.flags |= POV_CALL_OPEN;
		c->dur_ns = r->end_ns - c->hdr.ts_ns;
		c->hdr.ts_ns = r->end_ns;
		c->ret = 0;
		r->fn(r->ctx, &c->hdr);
		r->calls++;
	}
}

uint64_t open_calls_read(struct kernel *k, uint64_t end_ns,
			 void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx)
{
	struct reading r = {.end_ns = end_ns, .fn = fn, .ctx = ctx};

	kernel_dump_threads(k, on_thread, &r);
	return r.calls;
}
