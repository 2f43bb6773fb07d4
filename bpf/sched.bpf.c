// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The scheduler's side of the story: switches, wake-ups, migrations and, optionally, interrupts. When a
 * thread leaves its CPU inside a traced call, the call is announced first, so that a one-pass reader knows
 * that the call was under way.
 */
#include "core.bpf.h"

#define TASK_STATE_MASK 0xff

/* Tells of a call that is under way. what: its depth, from bit 32 on its function. */
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

/*
 * Writes a pov_call_begin for each call in flight of this thread that has none yet, and notes its call
 * site, in case it never returns.
 */
static __always_inline void calls_announce(struct task_struct *p, u32 tid, u64 now)
{
	struct pov_thread *t = thread_find(p, tid);
	struct pov_frame *f;
	struct pov_call *c;
	u32 i;

	if (!t)
		return;
	if (t->spinning)
		spin_flush_idle(t, now);
	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		if (i >= t->depth)
			break;
		f = frame_at(t, i);
		if (f->announced)
			continue;
		f->announced = 1;
		c = (struct pov_call *)f->rec;
		frame_site_find(p, f);
		if (bindings_exist())
			site_leave_bindings(t, i);
		begin_emit(t->tid, c->tgid, (u64)c->func << 32 | c->depth, c->hdr.ts_ns, now);
	}
}

/*
 * The same of a thread whose calls are recorded in its process, which is the current one: what is said there is taken as it stands.
 * A call that began before the one that was announced last was announced, too.
 */
static __noinline int preloaded_announce(struct pov_preloaded *p, u32 tid, u32 tgid, u64 now)
{
	struct pov_call c;
	u64 announced;
	u32 depth, i;

	if (!p || bpf_probe_read_user(&depth, sizeof(depth), PRELOADED_STATE(p, depth)))
		return 0;
	announced = p->announced_ns;
	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		if (i >= depth || bpf_probe_read_user(&c, sizeof(c),
						      PRELOADED_STATE(p, frame[0].rec) +
							      i * sizeof(struct pov_frame)))
			break;
		if (c.hdr.ts_ns <= announced || c.hdr.ts_ns > now)
			continue;
		p->announced_ns = c.hdr.ts_ns;
		begin_emit(tid, tgid, (u64)c.func << 32 | i, c.hdr.ts_ns, now);
	}
	return 0;
}

static __always_inline bool wanted(struct task_struct *a, struct task_struct *b)
{
	return cfg.sched_mode == POV_SCHED_ALL || is_target(BPF_CORE_READ(a, tgid)) ||
	       is_target(BPF_CORE_READ(b, tgid));
}

static __always_inline int on_switch(bool preempt, struct task_struct *prev,
				     struct task_struct *next, u32 state)
{
	u64 now = bpf_ktime_get_ns();
	u32 tid = BPF_CORE_READ(prev, pid);
	struct pov_switch r = {};

	if (tid) {
		struct pov_preloaded *p = preloaded_find(tid);

		if (p)
			preloaded_announce(p, tid, BPF_CORE_READ(prev, tgid), now);
		else
			calls_announce(prev, tid, now);
	}
	if (tid && is_target(BPF_CORE_READ(prev, tgid)))
		mask_check(prev);
	if (!wanted(prev, next))
		return 0;
	hdr_init(&r.hdr, POV_KIND_SWITCH, sizeof(r), tid, now);
	if (preempt || !(state & TASK_STATE_MASK))
		r.hdr.flags = POV_SWITCH_PREEMPTED;
	r.next_tid = BPF_CORE_READ(next, pid);
	r.prev_state = state;
	r.cpu = bpf_get_smp_processor_id();
	r.prev_prio = BPF_CORE_READ(prev, prio);
	r.next_prio = BPF_CORE_READ(next, prio);
	emit(&r, sizeof(r), POV_CLASS_SCHED);
	return 0;
}

/*
 * The tracepoint got prev_state as an argument in 5.18 (commit fa2c3254d7cf), since a concurrent wake-up
 * may already have changed the task's own; the collector loads the one that fits.
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
	return on_switch(preempt, prev, next, BPF_CORE_READ(prev, __state));
}

/* x86-64 stays on the thread's stack if the thread was in its program, which then has no system call's number. */
static __always_inline bool entered_by_trap(struct pt_regs *regs)
{
#ifdef __TARGET_ARCH_x86
	return (long)regs->orig_ax == -1;
#else
	return false;
#endif
}

/*
 * Whether this runs in an interrupt, a softirq or an NMI rather than for the current thread: these have stacks of
 * their own. (The CPU's preempt count would tell, too, but where it is depends on the kernel, and not all kernels tell.)
 * A fault of the program counts as an interrupt: it rarely wakes anybody. A function of its own, for one with
 * much on its stack is given one that is not the kernel's.
 */
static __noinline int in_interrupt(void)
{
	struct task_struct *self = bpf_get_current_task_btf();
	u64 here, above_top, stack = (u64)BPF_CORE_READ(self, stack);
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(self);

	/* the difference of two pointers is a number; a pointer is none */
	asm volatile("%0 = r10; %0 -= %1" : "=&r"(here) : "r"(self));
	asm volatile("%0 = r10; %0 -= %1" : "=&r"(above_top) : "r"(regs));
	here += bpf_get_current_task();
	return here < stack || (s64)above_top >= 0 || entered_by_trap(regs);
}

static __always_inline int on_waking(struct task_struct *p, u8 flags)
{
	struct task_struct *self = (struct task_struct *)bpf_get_current_task();
	struct pov_waking r = {};

	if (!wanted(p, self))
		return 0;
	hdr_init(&r.hdr, POV_KIND_WAKING, sizeof(r), BPF_CORE_READ(self, pid), bpf_ktime_get_ns());
	r.hdr.flags = flags;
	if (!r.hdr.tid || in_interrupt()) /* an idle CPU wakes nobody of its own accord */
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

/* ---- samples: a clock of each CPU ticks ---- */

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
	hdr_init(&r.hdr, POV_KIND_SAMPLE, sizeof(r), tid, bpf_ktime_get_ns());
	r.tgid = self->tgid;
	r.ip = PT_REGS_IP_CORE((struct pt_regs *)bpf_task_pt_regs(self));
	emit(&r, sizeof(r), POV_CLASS_SCHED);
	return 0;
}

/* ---- interrupts: begin kept per CPU, one record at the end ---- */

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
