// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Scheduler events: switches, wake-ups, migrations and, optionally, interrupts. If a thread leaves
 * its CPU inside a traced call, the call is announced first, so that a one-pass reader knows of it.
 */
#include "core.bpf.h"

#define TASK_STATE_MASK 0xff

/*
 * Which switches are timed, by their time in ns: one of 64. The lowest bits are left out, as some
 * clocks do not use them.
 */
#define SWITCH_TIMED(now) (((now) >> 6 & 63) == 0)
/* Which switches check how full the ring is: one of 8. */
#define SWITCH_CHECKS_RING(now) (((now) >> 12 & 7) == 0)
/* for a thread that records its own calls: time between looks at its CPU mask */
#define MASK_NS 1000000

/* Writes a pov_call_begin for a call in flight. what: its depth; from bit 32 on, its function. */
__noinline int begin_emit(u32 tid, u32 tgid, u64 what, u64 begin_ns, u64 now)
{
	struct pov_call_begin b = {};

	hdr_init(&b.hdr, POV_KIND_CALL_BEGIN, sizeof(b), tid, now);
	b.begin_ns = begin_ns;
	b.tgid = tgid;
	b.func = what >> 32;
	b.depth = what;
	return emit(&b, sizeof(b), POV_CLASS_SCHED);
}

/* Not part of the loop over a thread's frames, so that the verifier checks it only once. */
__noinline int call_announce(struct pov_thread *t, u32 idx, u64 return_instances, u64 now)
{
	struct pov_frame *f;
	struct pov_call *c;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	f = frame_at(t, idx);
	c = frame_call(f);
	f->announced = 1;
	frame_site_find(t, idx, return_instances);
	if (bindings_exist())
		site_leave_bindings(t, idx);
	return begin_emit(t->tid, c->tgid, (u64)c->func << 32 | c->depth, c->hdr.ts_ns, now);
}

/*
 * Writes a pov_call_begin for each call in flight of this thread that has none yet. Also records
 * its call site, in case it never returns.
 */
static __always_inline void calls_announce(struct task_struct *p, u32 tid, u64 now)
{
	struct pov_thread *t = thread_find(p, tid);
	u32 i;

	if (!t)
		return;
	if (t->spinning)
		spin_flush_idle(t, now);
	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		if (i >= t->depth)
			break;
		if (!frame_at(t, i)->announced)
			call_announce(t, i, return_instances(p), now);
	}
}

/* One short read of a call's record must have the members that its announcement needs. */
_Static_assert(__builtin_offsetof(struct pov_call, func) < POV_FETCH_ONE_BYTES, "one short read");

/*
 * As calls_announce, for the current thread if its calls are recorded in its process. The data
 * there are used unchecked. Calls that began before the last announced call have been announced,
 * too. Mostly there is one call or none, for which one read is enough.
 */
static __noinline int preloaded_announce(struct pov_preloaded *p, u32 tid, u32 tgid, u64 now)
{
	const struct pov_call *c;
	struct words w = {};
	u64 announced, func;
	u32 depth, i;

	if (!p || read_words(&w, (u64)PRELOADED_STATE(p, depth), 16))
		return 0;
	depth = w.w[0];
	func = w.w[0] & ~0xffffffffull;
	announced = p->announced_ns;
	if (!depth || (depth == 1 && (w.w[1] <= announced || w.w[1] > now)))
		return 0;
	if (depth == 1) {
		p->announced_ns = w.w[1];
		return begin_emit(tid, tgid, func, w.w[1], now);
	}
	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		if (i >= depth ||
		    read_words(&w,
			       (u64)PRELOADED_STATE(p, frame[0].rec) + i * sizeof(struct pov_frame),
			       sizeof(w)))
			break;
		c = (const struct pov_call *)&w;
		if (c->hdr.ts_ns <= announced || c->hdr.ts_ns > now)
			continue;
		p->announced_ns = c->hdr.ts_ns;
		begin_emit(tid, tgid, (u64)c->func << 32 | i, c->hdr.ts_ns, now);
	}
	return 0;
}

static __always_inline void switch_timed(u64 begin_ns)
{
	count(POV_COUNT_STAT(POV_STAT_SWITCHES_TIMED));
	__sync_fetch_and_add(&counters[POV_COUNT_STAT(POV_STAT_SWITCH_NS)],
			     bpf_ktime_get_ns() - begin_ns);
}

/*
 * Handles the thread that leaves its CPU: announces its calls, and reports a changed CPU mask.
 * Returns true if it is a target's. For a thread that records its own calls, the mask is not
 * checked each time: such a thread may yield all the time, and the check takes longer than the
 * record.
 */
static __always_inline bool on_leave(struct task_struct *prev, u32 tid, u32 tgid, u64 now)
{
	struct pov_preloaded *p = preloaded_find(tid);
	bool wanted = p || is_target(tgid);

	if (p)
		preloaded_announce(p, tid, tgid, now);
	else
		calls_announce(prev, tid, now);
	if (!wanted || (p && now - p->mask_ns < MASK_NS))
		return wanted;
	if (p)
		p->mask_ns = now;
	mask_check(prev);
	return true;
}

/*
 * Runs at each switch of the machine, so it reads the tasks' members directly: a helper call for
 * each would cost more than all the rest.
 */
static __always_inline int on_switch(bool preempt, struct task_struct *prev,
				     struct task_struct *next, u32 state)
{
	u64 now = bpf_ktime_get_ns();
	u32 tid = prev->pid;
	bool wanted = tid && on_leave(prev, tid, prev->tgid, now);
	struct pov_switch r = {};

	if (!wanted && cfg.sched_mode != POV_SCHED_ALL && !is_target(next->tgid))
		return 0;
	hdr_init(&r.hdr, POV_KIND_SWITCH, sizeof(r), tid, now);
	if (preempt || !(state & TASK_STATE_MASK))
		r.hdr.flags = POV_SWITCH_PREEMPTED;
	r.next_tid = next->pid;
	r.prev_state = state;
	r.cpu = bpf_get_smp_processor_id();
	r.prev_prio = prev->prio;
	r.next_prio = next->prio;
	emit_look(&r, sizeof(r), POV_CLASS_SCHED, SWITCH_CHECKS_RING(now));
	if (SWITCH_TIMED(now))
		switch_timed(now);
	return 0;
}

/*
 * The tracepoint has had the argument prev_state since 5.18 (commit fa2c3254d7cf), because a
 * concurrent wake-up may have changed the task's own state already. The collector loads the program
 * that fits.
 */
SEC("?tp_btf/sched_switch")
int BPF_PROG(sched_switch_state, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return on_switch(preempt, prev, next, prev_state);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(sched_switch_plain, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return on_switch(preempt, prev, next, prev->__state);
}

/*
 * On x86-64, a trap taken in the program stays on the thread's stack; then there is no system call
 * number.
 */
static __always_inline bool entered_by_trap(struct pt_regs *regs)
{
#ifdef __TARGET_ARCH_x86
	return (long)regs->orig_ax == -1;
#else
	return false;
#endif
}

/*
 * True if this runs in an interrupt, softirq or NMI rather than for the current thread: those have
 * stacks of their own. The CPU's preempt count would show it, too. But its location depends on the
 * kernel, and not all kernels reveal it. A fault of the program counts as an interrupt, as it
 * rarely wakes anybody. Not inlined: a function with a large frame gets a private stack, which is
 * not the kernel's.
 */
static __noinline int in_interrupt(void)
{
	struct task_struct *self = bpf_get_current_task_btf();
	u64 here, above_top, stack = (u64)BPF_CORE_READ(self, stack);
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(self);

	/* the verifier takes the difference of two pointers as a number */
	asm volatile("%0 = r10; %0 -= %1" : "=&r"(here) : "r"(self));
	asm volatile("%0 = r10; %0 -= %1" : "=&r"(above_top) : "r"(regs));
	here += bpf_get_current_task();
	return here < stack || (s64)above_top >= 0 || entered_by_trap(regs);
}

static __always_inline int on_waking(struct task_struct *p, u8 flags)
{
	struct task_struct *self = (struct task_struct *)bpf_get_current_task();
	struct pov_waking r = {};

	if (cfg.sched_mode != POV_SCHED_ALL && !is_target(p->tgid) &&
	    !is_target(BPF_CORE_READ(self, tgid)))
		return 0;
	hdr_init(&r.hdr, POV_KIND_WAKING, sizeof(r), BPF_CORE_READ(self, pid), bpf_ktime_get_ns());
	r.hdr.flags = flags;
	if (!r.hdr.tid || in_interrupt()) /* an idle CPU wakes nobody itself */
		r.hdr.flags |= POV_WAKING_INTERRUPT;
	r.target_tid = BPF_CORE_READ(p, pid);
	r.cpu = bpf_get_smp_processor_id();
	r.target_cpu = task_cpu(p);
	r.prio = BPF_CORE_READ(p, prio);
	emit(&r, sizeof(r), POV_CLASS_SCHED);
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *p)
{
	return on_waking(p, 0);
}

SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *p)
{
	return on_waking(p, POV_WAKING_NEW);
}

SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrate_task, struct task_struct *p, int dest_cpu)
{
	struct pov_migrate r = {};

	if (cfg.sched_mode != POV_SCHED_ALL && !is_target(BPF_CORE_READ(p, tgid)))
		return 0;
	hdr_init(&r.hdr, POV_KIND_MIGRATE, sizeof(r), BPF_CORE_READ(p, pid), bpf_ktime_get_ns());
	r.orig_cpu = task_cpu(p);
	r.dest_cpu = dest_cpu;
	r.cpu = bpf_get_smp_processor_id();
	emit(&r, sizeof(r), POV_CLASS_SCHED);
	return 0;
}

/* ---- samples, at the ticks of each CPU's clock ---- */

#define PAGE_BYTES 4096

/*
 * Writes the thread's registers and its stack, from which the collector finds the callers. False on
 * other machines than x86-64, or if the ring has no room.
 */
static __always_inline bool stack_emit(struct task_struct *self, u32 tid)
{
#ifdef __TARGET_ARCH_x86
	u32 ring = ring_here(), bytes;
	void *rb = bpf_map_lookup_elem(&rings, &ring);
	struct pov_stack *s;
	u64 sp;

	s = rb ? bpf_ringbuf_reserve(rb, sizeof(*s), 0) : NULL;
	if (!s)
		return false;
	hdr_init(&s->hdr, POV_KIND_STACK, sizeof(*s), tid, bpf_ktime_get_ns());
	s->regs.tid = tid;
	s->regs.tgid = self->tgid;
	regs_read(&s->regs, (struct pt_regs *)bpf_task_pt_regs(self));
	sp = s->regs.reg[7];
	/*
	 * first up to the end of the page, then page by page: what is above the stack may be
	 * unreadable
	 */
	bytes = PAGE_BYTES - (sp & (PAGE_BYTES - 1));
	if (bpf_probe_read_user(s->data, bytes, (void *)sp))
		bytes = 0;
	for (int i = 0; bytes && i < POV_STACK_PAGES - 1; i++) {
		if (bpf_probe_read_user(s->data + bytes, PAGE_BYTES, (void *)(sp + bytes)))
			break;
		bytes += PAGE_BYTES;
		barrier_var(bytes); /* an addition, which the verifier can follow, not an "or" */
	}
	s->bytes = bytes;
	bpf_ringbuf_submit(s, BPF_RB_NO_WAKEUP);
	return true;
#else
	return false;
#endif
}

SEC("?perf_event")
int place_sample(void *ctx)
{
	struct task_struct *self = bpf_get_current_task_btf();
	u32 tid = self->pid;
	struct pov_preloaded *p = preloaded_find(tid);
	struct pov_sample r = {};
	struct pov_thread *t;
	u32 depth = 0;

	if (!tid || !is_target(self->tgid))
		return 0;
	t = thread_slot(tid);
	if (t && t->tid == tid && t->depth)
		return 0;
	if (p && (bpf_probe_read_user(&depth, sizeof(depth), PRELOADED_STATE(p, depth)) || depth))
		return 0;
	if (cfg.stacks && stack_emit(self, tid))
		return 0;
	hdr_init(&r.hdr, POV_KIND_SAMPLE, sizeof(r), tid, bpf_ktime_get_ns());
	r.tgid = self->tgid;
	r.ip = PT_REGS_IP_CORE((struct pt_regs *)bpf_task_pt_regs(self));
	emit(&r, sizeof(r), POV_CLASS_SCHED);
	return 0;
}

/* ---- interrupts: the start is kept per CPU; one record is written at the end ---- */

enum irq_slot { IRQ_HARD = 0, IRQ_SOFT = 1, IRQ_SLOTS = 2 };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, IRQ_SLOTS);
	__type(key, u32);
	__type(value, u64);
} irq_begin SEC(".maps");

static __always_inline int irq_enter(u32 slot)
{
	u64 *begin = bpf_map_lookup_elem(&irq_begin, &slot);

	if (begin)
		*begin = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int irq_leave(u32 slot, u32 vec)
{
	u64 *begin = bpf_map_lookup_elem(&irq_begin, &slot);
	u64 now = bpf_ktime_get_ns();
	struct pov_irq r = {};

	if (!begin || !*begin)
		return 0;
	hdr_init(&r.hdr, POV_KIND_IRQ, sizeof(r), bpf_get_current_pid_tgid(), now);
	r.hdr.flags = slot == IRQ_SOFT ? POV_IRQ_SOFT : 0;
	r.dur_ns = now - *begin;
	r.cpu = bpf_get_smp_processor_id();
	r.vec = vec;
	*begin = 0;
	emit(&r, sizeof(r), POV_CLASS_IRQ);
	return 0;
}

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(irq_handler_entry, int irq)
{
	return irq_enter(IRQ_HARD);
}

SEC("?tp_btf/irq_handler_exit")
int BPF_PROG(irq_handler_exit, int irq)
{
	return irq_leave(IRQ_HARD, irq);
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vec)
{
	return irq_enter(IRQ_SOFT);
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(softirq_exit, unsigned int vec)
{
	return irq_leave(IRQ_SOFT, vec);
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
