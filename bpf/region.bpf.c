// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Entry and return of the functions that are regions of the program: a record each, and nothing kept here, so that
 * regions may be nested as deeply, and last as long, as they like. Which end belongs to which begin is for the reader to find.
 */
#include "core.bpf.h"

/* flags: POV_REGION_END, or 0 at entry. */
static __always_inline int on_region(struct pt_regs *ctx, u64 sp, u8 flags)
{
	struct task_struct *self = bpf_get_current_task_btf();
	u64 id = bpf_get_current_pid_tgid(), now;
	struct pov_region r = {};
	struct pov_thread *t;

	if ((calls_until && calls_over(bpf_ktime_get_ns())) || !is_target(id >> 32))
		return 0;
	t = thread_find(self, self->pid);
	/* What was polled on one side of it is not one spin with what is polled on the other. */
	if (t && t->spinning && t->depth < POV_CALL_DEPTH_MAX)
		spin_flush(t, t->depth, ALL_TIMES);
	now = bpf_ktime_get_ns();
	if (calls_over(now))
		return 0;
	hdr_init(&r.hdr, POV_KIND_REGION, sizeof(r), id, now);
	if (!flags && frame_alive(return_trampoline(), sp))
		flags = POV_REGION_CHAINED;
	r.hdr.flags = flags;
	r.sp = sp;
	r.tgid = id >> 32;
	r.region = POV_COOKIE_FUNC(bpf_get_attach_cookie(ctx));
	r.cpu = bpf_get_smp_processor_id();
	emit(&r, sizeof(r), POV_CLASS_CALL);
	return 0;
}

SEC("?uprobe")
int region_entry(struct pt_regs *ctx)
{
	stay_on_own_stack(ctx);
	return on_region(ctx, PT_REGS_SP(ctx), 0);
}

SEC("?uretprobe")
int region_return(struct pt_regs *ctx)
{
	stay_on_own_stack(ctx);
	return on_region(ctx, entry_sp(ctx), POV_REGION_END);
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
