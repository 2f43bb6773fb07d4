// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The kernel's data on functions with a return probe. These are global functions that take plain
 * numbers, so that the verifier checks them once per program, not at each call: to follow the
 * current task's pointers takes it 1 ms each time.
 */
#include "core.bpf.h"

__noinline u64 return_trampoline(void)
{
	return trampoline_of(bpf_get_current_task_btf());
}

__noinline u64 frame_site_among(u64 return_instances, u64 sp)
{
	struct return_instance *ri = (struct return_instance *)return_instances;
	u32 i;

	for (i = 0; i < 2 * POV_CALL_DEPTH_MAX; i++) {
		if (!ri)
			break;
		if (BPF_CORE_READ(ri, stack) == sp)
			return BPF_CORE_READ(ri, orig_ret_vaddr);
		ri = BPF_CORE_READ(ri, next);
	}
	return 0;
}

__noinline int frame_site_find(struct pov_thread *t, u32 idx, u64 return_instances)
{
	struct pov_frame *f;
	struct pov_call *c;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	f = frame_at(t, idx);
	c = frame_call(f);
	if (!c->site)
		c->site = f->ret ?: frame_site_among(return_instances, f->sp);
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
