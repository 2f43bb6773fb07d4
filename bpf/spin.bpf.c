// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Spins: polls that found nothing, merged per thread and depth into one record with count, first
 * and last time. Up to POV_SPIN_FUNCS_MAX polling functions that take turns form one spin. Only the
 * thread itself changes its spins. As its probes may be preempted, the switch also looks at them
 * (sched.bpf.c), unless they are marked as busy.
 */
#include "core.bpf.h"

static __always_inline struct pov_spin_open *spin_at(struct pov_thread *t, u32 depth)
{
	return &t->spin[index_mask(depth, POV_CALL_DEPTH_MAX)];
}

static __always_inline u64 spin_begin(const struct pov_spin *s)
{
	return s->hdr.ts_ns - s->dur_ns;
}

/* Start of the call that encloses the polls at this depth; 0: there is none. */
static __always_inline u64 enclosing_begin(struct pov_thread *t, u32 depth)
{
	if (!depth || depth > POV_CALL_DEPTH_MAX || t->depth < depth)
		return 0;
	return frame_call(frame_at(t, depth - 1))->hdr.ts_ns;
}

static __always_inline void spin_rec_write(struct pov_spin_open *o)
{
	struct pov_spin *s = (struct pov_spin *)o->rec;
	u64 n = s->nfuncs, size;

	if (n > POV_SPIN_FUNCS_MAX)
		n = POV_SPIN_FUNCS_MAX;
	size = sizeof(*s) + n * sizeof(struct pov_spin_func);
	barrier_var(size);
	if (size > sizeof(o->rec))
		return;
	s->hdr.size = size;
	s->hdr.flags = 0;
	emit(o->rec, size, POV_CLASS_SPIN);
}

static __always_inline struct pov_spin_func *spin_func_at(struct pov_spin_open *o, u32 i)
{
	return (struct pov_spin_func *)(o->rec + sizeof(struct pov_spin)) +
	       index_mask(i, POV_SPIN_FUNCS_MAX);
}

/*
 * Step 1 of spin_split for function i of the spin: puts its part from before the mark into the
 * record, and the rest into the mark. Returns 1 if that part has polls. A global function, so that
 * the verifier checks it only once.
 */
__noinline int split_before(struct pov_thread *t, u32 depth, u32 i)
{
	struct pov_spin_func *sf;
	struct pov_spin_open *o;
	bool used;
	u64 rest;

	if (!t || depth >= POV_CALL_DEPTH_MAX)
		return 0;
	o = spin_at(t, depth);
	used = i < ((struct pov_spin *)o->rec)->nfuncs;
	i = index_mask(i, POV_SPIN_FUNCS_MAX);
	sf = spin_func_at(o, i);
	rest = used ? sf->cnt - o->mark.cnt[i] : 0;
	sf->cnt = o->mark.cnt[i];
	o->mark.cnt[i] = rest;
	rest = sf->busy_ns - o->mark.busy_ns[i];
	sf->busy_ns = o->mark.busy_ns[i];
	o->mark.busy_ns[i] = rest;
	return used && sf->cnt;
}

/*
 * Step 2 of spin_split: moves the rest into the record as its function n. Returns 1 if there is a
 * rest.
 */
__noinline int split_rest(struct pov_thread *t, u32 depth, u32 i, u32 n)
{
	struct pov_spin_func *sf, *to;
	struct pov_spin_open *o;

	if (!t || depth >= POV_CALL_DEPTH_MAX)
		return 0;
	o = spin_at(t, depth);
	i = index_mask(i, POV_SPIN_FUNCS_MAX);
	sf = spin_func_at(o, i);
	if (!o->mark.cnt[i])
		return 0;
	to = spin_func_at(o, n);
	to->arg = sf->arg;
	to->func = sf->func;
	to->lib = sf->lib;
	to->cnt = o->mark.cnt[i];
	to->busy_ns = o->mark.busy_ns[i];
	return 1;
}

/*
 * Writes the part of a spin from before the enclosing call began, and keeps the rest. Meanwhile,
 * the rest is stored in the mark, because BPF stacks are too small for it.
 */
__noinline int spin_split(struct pov_thread *t, u32 depth)
{
	struct pov_spin_open *o;
	struct pov_spin *s;
	u32 i, n = 0;
	u64 end_ns;

	if (!t || depth >= POV_CALL_DEPTH_MAX)
		return -1;
	o = spin_at(t, depth);
	s = (struct pov_spin *)o->rec;
	end_ns = s->hdr.ts_ns;
	for (i = 0; i < POV_SPIN_FUNCS_MAX; i++)
		n += split_before(t, depth, i);
	/*
	 * functions are in the order of their first poll: those without polls before the mark come
	 * last
	 */
	s->nfuncs = n;
	s->dur_ns = o->mark.end_ns - spin_begin(s);
	s->hdr.ts_ns = o->mark.end_ns;
	spin_rec_write(o);
	n = 0;
	for (i = 0; i < POV_SPIN_FUNCS_MAX; i++)
		n += split_rest(t, depth, i, n);
	s->nfuncs = n;
	s->dur_ns = end_ns - o->mark.begin_ns;
	s->hdr.ts_ns = end_ns;
	o->mark.begin_ns = 0;
	return 0;
}

/* Writes the spin at a depth and ends it. */
__noinline int spin_write(struct pov_thread *t, u32 depth)
{
	struct pov_spin_open *o;
	struct pov_spin *s;

	if (!t || depth >= POV_CALL_DEPTH_MAX)
		return -1;
	o = spin_at(t, depth);
	s = (struct pov_spin *)o->rec;
	if (!s->nfuncs)
		return 0;
	if (o->mark.begin_ns && o->mark.begin_ns >= enclosing_begin(t, depth))
		spin_split(t, depth);
	spin_rec_write(o);
	s->nfuncs = 0;
	o->mark.begin_ns = 0;
	t->spinning &= ~(1u << depth);
	return 0;
}

__noinline int spin_flush(struct pov_thread *t, u32 depth, u64 before_ns)
{
	u16 busy;
	u32 i, d;

	if (!t)
		return -1;
	busy = t->spin_busy;
	t->spin_busy = 1;
	barrier();
	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		d = POV_CALL_DEPTH_MAX - 1 - i;
		if (d < depth)
			break;
		if (t->spinning >> d & 1 &&
		    spin_begin((struct pov_spin *)spin_at(t, d)->rec) < before_ns)
			spin_write(t, d);
	}
	barrier();
	t->spin_busy = busy;
	return 0;
}

__noinline int spin_flush_idle(struct pov_thread *t, u64 now)
{
	struct pov_spin *s;
	u32 i, d;

	if (!t || t->spin_busy)
		return 0;
	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		d = POV_CALL_DEPTH_MAX - 1 - i;
		if (!(t->spinning >> d & 1))
			continue;
		s = (struct pov_spin *)spin_at(t, d)->rec;
		if (now - s->hdr.ts_ns <= cfg.spin_gap_ns)
			break;
		spin_write(t, d);
	}
	return 0;
}

/*
 * Marks where to split the spin: the enclosing call began after the previous poll, so this poll is
 * the first one in it.
 */
static __always_inline void spin_mark_set(struct pov_spin_open *o, u64 begin_ns)
{
	struct pov_spin *s = (struct pov_spin *)o->rec;
	struct pov_spin_func *sf = (struct pov_spin_func *)(o->rec + sizeof(*s));
	u32 i;

	o->mark.begin_ns = begin_ns;
	o->mark.end_ns = s->hdr.ts_ns;
#pragma unroll
	for (i = 0; i < POV_SPIN_FUNCS_MAX; i++) {
		o->mark.cnt[i] = i < s->nfuncs ? sf[i].cnt : 0;
		o->mark.busy_ns[i] = i < s->nfuncs ? sf[i].busy_ns : 0;
	}
}

static __always_inline void spin_begin_new(struct pov_thread *t, struct pov_spin_open *o,
					   const struct pov_call *c, u32 depth)
{
	struct pov_spin *s = (struct pov_spin *)o->rec;

	hdr_init(&s->hdr, POV_KIND_SPIN, 0, c->hdr.tid, c->hdr.ts_ns);
	s->dur_ns = 0;
	s->site = c->site;
	s->tgid = c->tgid;
	s->depth = depth;
	o->mark.begin_ns = 0;
	t->spinning |= 1u << depth;
}

static __always_inline int spin_add_poll(struct pov_thread *t, u32 idx, u64 end_ns, u64 arg)
{
	struct pov_spin_open *o = spin_at(t, idx);
	struct pov_spin_func *sf = (struct pov_spin_func *)(o->rec + sizeof(struct pov_spin));
	struct pov_spin *s = (struct pov_spin *)o->rec;
	struct pov_call *c = frame_call(frame_at(t, idx));
	u64 begin_ns = c->hdr.ts_ns;
	u32 i;

	if (s->nfuncs && begin_ns - s->hdr.ts_ns > cfg.spin_gap_ns)
		spin_flush(t, idx, begin_ns);
	for (i = 0; i < POV_SPIN_FUNCS_MAX; i++) {
		if (i >= s->nfuncs || (sf[i].func == c->func && sf[i].lib == c->lib))
			break;
	}
	if (i >= POV_SPIN_FUNCS_MAX) {
		spin_flush(t, idx, begin_ns);
		i = 0;
	}
	if (!s->nfuncs) {
		if (bindings_exist())
			site_leave_bindings(t, idx);
		spin_begin_new(t, o, c, idx);
	} else if (idx && s->hdr.ts_ns < enclosing_begin(t, idx)) {
		spin_mark_set(o, begin_ns);
	}
	/* the verifier of Linux 6.1 does not see the bound from the loop */
	sf += index_mask(i, POV_SPIN_FUNCS_MAX);
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
	err = spin_add_poll(t, idx, end_ns, arg);
	barrier();
	t->spin_busy = 0;
	return err;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
