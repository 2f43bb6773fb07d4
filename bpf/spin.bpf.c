// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Spins: polls that found nothing, merged per thread into one record with count, first and last time. Up to
 * POV_SPIN_FUNCS_MAX different polling functions that take turns are one spin. Only the thread itself changes its
 * spin, but probes may be preempted: the switch then looks at it (sched.bpf.c), unless it is marked as busy.
 */
#include "core.bpf.h"

static __always_inline int flush(struct pov_thread *t, u32 flags)
{
	struct pov_spin *s;
	u64 n, size;

	s = (struct pov_spin *)t->spin;
	n = s->nfuncs;
	if (!n)
		return 0;
	if (n > POV_SPIN_FUNCS_MAX)
		n = POV_SPIN_FUNCS_MAX;
	size = sizeof(*s) + n * sizeof(struct pov_spin_func);
	barrier_var(size);
	if (size > sizeof(t->spin))
		return -1;
	s->hdr.size = size;
	s->hdr.flags = flags;
	emit(t->spin, size, POV_CLASS_SPIN);
	s->nfuncs = 0;
	return 0;
}

__noinline int spin_flush(struct pov_thread *t, u32 flags)
{
	int err;

	if (!t)
		return -1;
	t->spin_busy = 1;
	barrier();
	err = flush(t, flags);
	barrier();
	t->spin_busy = 0;
	return err;
}

static __always_inline int add(struct pov_thread *t, u32 idx, u64 end_ns, u64 arg)
{
	struct pov_spin_func *sf;
	struct pov_spin *s;
	struct pov_call *c;
	u64 begin_ns;
	u32 i;

	c = frame_call(frame_at(t, idx));
	s = (struct pov_spin *)t->spin;
	sf = (struct pov_spin_func *)(t->spin + sizeof(*s));
	begin_ns = c->hdr.ts_ns;
	if (s->nfuncs && (s->depth != c->depth || begin_ns - s->hdr.ts_ns > cfg.spin_gap_ns))
		flush(t, 0);
	for (i = 0; i < POV_SPIN_FUNCS_MAX; i++) {
		if (i >= s->nfuncs || (sf[i].func == c->func && sf[i].lib == c->lib))
			break;
	}
	if (i >= POV_SPIN_FUNCS_MAX) {
		flush(t, 0);
		i = 0;
	}
	if (!s->nfuncs) {
		hdr_init(&s->hdr, POV_KIND_SPIN, 0, c->hdr.tid, begin_ns);
		s->dur_ns = 0;
		s->site = c->site;
		s->tgid = c->tgid;
		s->depth = c->depth;
	}
	sf += index_mask(i,
			 POV_SPIN_FUNCS_MAX); /* what the verifier of 6.1 cannot see in the loop */
	if (i >= s->nfuncs) {
		sf->cnt = 0;
		sf->busy_ns = 0;
		sf->arg = arg;
		sf->func = c->func;
		sf->lib = c->lib;
		sf->pad = 0;
		s->nfuncs = i + 1;
	}
	sf->cnt++;
	sf->busy_ns += end_ns - begin_ns;
	s->dur_ns += end_ns - s->hdr.ts_ns;
	s->hdr.ts_ns = end_ns;
	s->cpu = bpf_get_smp_processor_id();
	return 0;
}

__noinline int spin_add(struct pov_thread *t, u32 idx, u64 end_ns, u64 arg)
{
	int err;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	t->spin_busy = 1;
	barrier();
	err = add(t, idx, end_ns, arg);
	barrier();
	t->spin_busy = 0;
	return err;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
