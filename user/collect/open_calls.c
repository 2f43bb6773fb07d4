/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A frame already holds the record as far as it is known; only its end is put in. */
#include "collect/open_calls.h"

#include <bpf/bpf.h>
#include <stddef.h>

#include "abi/event.h"
#include "abi/thread.h"
#include "base/log.h"

static uint64_t thread_read(struct pov_thread *t, uint64_t end_ns,
			    void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx)
{
	struct pov_spin *s = (struct pov_spin *)t->spin;
	uint64_t n = 0;

	if (s->nfuncs && s->nfuncs <= POV_SPIN_FUNCS_MAX) {
		s->hdr.size = sizeof(*s) + s->nfuncs * sizeof(struct pov_spin_func);
		s->hdr.flags = POV_SPIN_OPEN;
		fn(ctx, &s->hdr);
	}
	/* inner calls first, as they would have returned */
	for (uint32_t d = t->depth; d-- > 0;) {
		struct pov_frame *f = &t->frame[d % POV_CALL_DEPTH_MAX];
		struct pov_call *c = (struct pov_call *)f->rec;

		if (f->used < sizeof(*c) || f->used > POV_FRAME_FULL)
			continue;
		c->hdr.size = f->used;
		c->hdr.flags |= POV_CALL_OPEN;
		c->dur_ns = end_ns - c->hdr.ts_ns;
		c->hdr.ts_ns = end_ns;
		c->ret = 0;
		fn(ctx, &c->hdr);
		n++;
	}
	return n;
}

uint64_t open_calls_read(int threads_fd, uint64_t end_ns, void (*fn)(void *ctx, const struct pov_hdr *rec),
			 void *ctx)
{
	struct pov_thread t;
	uint32_t key, next;
	void *from = NULL;
	uint64_t n = 0;

	while (!bpf_map_get_next_key(threads_fd, from, &next)) {
		key = next;
		from = &key;
		if (!bpf_map_lookup_elem(threads_fd, &key, &t) && t.depth <= POV_CALL_DEPTH_MAX)
			n += thread_read(&t, end_ns, fn, ctx);
	}
	return n;
}
