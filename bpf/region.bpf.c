// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Records the begin and end of functions that the user declared regions. The reader matches begins
 * and ends by stack pointer. So regions may be nested to any depth and last for any time. The
 * innermost ones are also kept here with their return addresses. If such a return address has been
 * overwritten, the region was left by an exception or longjmp.
 */
#include "core.bpf.h"
#include "place.bpf.h"

#define KEPT_MAX 32 /* innermost regions kept per thread; a power of two */

struct region_frame {
	u64 sp;	 /* at entry */
	u64 ret; /* return address stored at sp */
	u64 region;
};

struct region_frames {
	u32 top;  /* index of the next region, modulo KEPT_MAX */
	u32 kept; /* number of regions in use before top */
	struct region_frame frame[KEPT_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct region_frames);
} region_stacks SEC(".maps");

static __always_inline struct region_frame *region_innermost(struct region_frames *s)
{
	return &s->frame[index_mask(s->top - 1, KEPT_MAX)];
}

static __always_inline void region_pop(struct region_frames *s)
{
	s->top--;
	s->kept--;
}

static __noinline int region_write(u64 sp, u32 region, u32 flags)
{
	u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
	struct pov_region r = {};

	if (calls_over(now))
		return 0;
	hdr_init(&r.hdr, POV_KIND_REGION, sizeof(r), id, now);
	r.hdr.flags = flags;
	r.sp = sp;
	r.tgid = id >> 32;
	r.region = region;
	r.cpu = bpf_get_smp_processor_id();
	return emit(&r, sizeof(r), POV_CLASS_CALL);
}

/*
 * True if a region is over when its thread has stack pointer sp: it has left the frame, or
 * something else lies in the return address's place. A return probe that others have put on the
 * function puts the kernel's trampoline there.
 */
static __noinline int region_is_over(u64 sp, u64 frame_sp, u64 ret)
{
	u64 there = 0;

	if (frame_sp < sp || bpf_probe_read_user(&there, sizeof(there), (void *)frame_sp))
		return 1;
	return there != ret && there != return_trampoline();
}

static __always_inline void regions_leave(struct region_frames *s, u64 sp)
{
	struct region_frame *f;
	u32 i;

	for (i = 0; i < KEPT_MAX && s->kept; i++) {
		f = region_innermost(s);
		if (!region_is_over(sp, f->sp, f->ret))
			break;
		region_write(f->sp, f->region, POV_REGION_END | POV_REGION_UNWOUND);
		region_pop(s);
	}
}

__noinline int regions_left(u64 sp)
{
	struct region_frames *s;

	s = bpf_task_storage_get(&region_stacks, bpf_get_current_task_btf(), NULL, 0);
	if (s)
		regions_leave(s, sp);
	return 0;
}

static __always_inline void region_push(struct region_frames *s, u64 sp, u32 region)
{
	struct region_frame *f = &s->frame[index_mask(s->top, KEPT_MAX)];

	if (bpf_probe_read_user(&f->ret, sizeof(f->ret), (void *)sp))
		return;
	f->sp = sp;
	f->region = region;
	s->top++;
	if (s->kept < KEPT_MAX)
		s->kept++;
}

/* A function begins or ends here, or both: it may consist of nothing but a jump to another one. */
SEC("?uprobe")
int region_place(struct pt_regs *ctx)
{
	struct task_struct *self = bpf_get_current_task_btf();
	u64 cookie = bpf_get_attach_cookie(ctx), sp = PT_REGS_SP(ctx);
	u32 region = POV_COOKIE_FUNC(cookie);
	struct region_frames *s;
	struct pov_thread *t;
	bool begins = POV_PLACE(cookie) & POV_PLACE_BEGINS, ends = place_ends(ctx, cookie);

	stay_on_own_stack(ctx);
	if ((calls_until && calls_over(bpf_ktime_get_ns())) || !is_target(self->tgid) ||
	    !(begins || ends))
		return 0;
	t = thread_find(self, self->pid);
	/* polls before and after the region's boundary are not one spin */
	if (t && t->spinning && t->depth < POV_CALL_DEPTH_MAX)
		spin_flush(t, t->depth, ALL_TIMES);
	s = bpf_task_storage_get(&region_stacks, self, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!s)
		return 0;
	regions_leave(s, begins ? sp + 1 : sp);
	if (begins) {
		region_write(sp, region, 0);
		region_push(s, sp, region);
	}
	if (ends) {
		region_write(sp, region, POV_REGION_END);
		if (s->kept && region_innermost(s)->sp == sp)
			region_pop(s);
	}
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
