// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Entry and return of every traced function of all layers. A call's record grows in its thread's
 * frame from entry on, by the function's recipe (struct pov_fn), and leaves in one piece at return.
 * Polls that found nothing do not leave as records: they are merged into the spin of their depth.
 * Nothing is decoded here.
 */
#include "core.bpf.h"
#include "fetch.bpf.h"
#include "frame.bpf.h"

#define STACK_WORDS_MAX (POV_CALL_ARGS_MAX - 6)
#define STACK_BYTES_MAX (1 << 16) /* largest kernel stack */
#define LOOK_EVERY 16		  /* records of a thread between checks of the ring's fill level */

/*
 * Sizes in which ring space is reserved. Copying a record of a known size here is cheaper than
 * bpf_ringbuf_output. Readers ignore the bytes after the record's end.
 */
#define ROOM_SMALL 88
#define ROOM_MIDDLE 120
#define ROOM_LARGE 152
_Static_assert(ROOM_LARGE <= POV_FRAME_FULL, "a frame has it");

static __always_inline bool room_fill(void *rb, const u64 *rec, const u32 bytes)
{
	u64 *to = bpf_ringbuf_reserve(rb, bytes, 0);

	if (!to)
		return false;
	__builtin_memcpy(to, rec, bytes);
	bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP);
	return true;
}

/*
 * Writes a short record to its CPU group's ring. Returns false if it is too long or the ring is
 * full.
 */
static __always_inline bool short_write(const u64 *rec, u64 size)
{
	u32 ring = ring_here();
	void *rb;

	if (size > ROOM_LARGE)
		return false;
	rb = bpf_map_lookup_elem(&rings, &ring);
	if (!rb)
		return false;
	return size <= ROOM_SMALL  ? room_fill(rb, rec, ROOM_SMALL) :
	       size <= ROOM_MIDDLE ? room_fill(rb, rec, ROOM_MIDDLE) :
				     room_fill(rb, rec, ROOM_LARGE);
}

/* Sends a finished record. */
static __always_inline int frame_out(struct pov_thread *t, struct pov_frame *f, u64 size)
{
	if (++t->emitted % LOOK_EVERY == 0)
		return emit(f->rec, size, POV_CLASS_CALL);
	return short_write((u64 *)f->rec, size) ? 0 :
						  emit_look(f->rec, size, POV_CLASS_CALL, false);
}

#include "call_steps.h"

/*
 * Handles the first traced call of a thread's program: sets up its state if it has none, and
 * informs the collector. With --all, its process becomes a target as far as calls within the kernel
 * are concerned.
 */
static __noinline struct pov_thread *thread_meet(struct task_struct *self, struct pov_thread *t)
{
	u64 id = bpf_get_current_pid_tgid();
	struct pov_caller r = {};
	u32 tgid = id >> 32, alive = POV_TARGET_ALIVE;

	if (!t) {
		if (!is_target(tgid))
			return NULL;
		t = thread_claim(self, id);
	}
	if (!t)
		return NULL;
	t->tgid = tgid;
	t->announced = 1;
	if (cfg.all)
		bpf_map_update_elem(&targets, &tgid, &alive, BPF_NOEXIST);
	hdr_init(&r.hdr, POV_KIND_CALLER, sizeof(r), id, bpf_ktime_get_ns());
	r.tgid = tgid;
	emit_control(&r, sizeof(r), true);
	return t;
}

/*
 * Stores the arguments from registers, and from the stack if there are more. Reading user memory is
 * the largest cost of a probe. So the return address is read only together with stack arguments;
 * the return probe gets it for free.
 */
static __always_inline void frame_fill(struct pov_frame *f, struct pt_regs *ctx, u32 nargs)
{
	struct pov_call *c = frame_call(f);
	u64 *args = frame_args(f);

	args[0] = PT_REGS_PARM1(ctx);
	args[1] = PT_REGS_PARM2(ctx);
	args[2] = PT_REGS_PARM3(ctx);
	args[3] = PT_REGS_PARM4(ctx);
	args[4] = PT_REGS_PARM5(ctx);
#ifdef __TARGET_ARCH_x86
	args[5] = ctx->r9;
	if (nargs > 6) {
		/*
		 * [return address, argument 7, …] lands one word too early; args[5] is restored
		 * below
		 */
		u64 bytes = (u64)(nargs - 5) * 8, sixth = args[5];
		long err;

		barrier_var(bytes);
		if (bytes > (1 + STACK_WORDS_MAX) * 8)
			bytes = (1 + STACK_WORDS_MAX) * 8;
		if (bytes <= sizeof(struct words))
			err = read_words((struct words *)&args[5], PT_REGS_SP(ctx), bytes);
		else
			err = bpf_probe_read_user(&args[5], bytes, (void *)PT_REGS_SP(ctx));
		if (err)
			c->hdr.flags |= POV_CALL_FAULT;
		else
			c->site = args[5];
		args[5] = sixth;
	}
#else
	args[5] = PT_REGS_PARM6(ctx);
#endif
}

/*
 * Data of a uprobe_multi link (Linux 6.6, commit 0b779b61f651) from which bpf_get_attach_cookie
 * takes the cookie; just the members needed to read it directly. Such kernels also have
 * bpf_rdonly_cast (6.2, commit a35b9af4ec2c).
 */
struct bpf_uprobe___pov {
	u64 cookie;
} __attribute__((preserve_access_index));
struct bpf_uprobe_multi_run_ctx___pov {
	struct bpf_uprobe___pov *uprobe;
} __attribute__((preserve_access_index));
struct task_struct___pov {
	void *stack;
	void *bpf_ctx;
	pid_t pid;
} __attribute__((preserve_access_index));
extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym __weak;

static __always_inline bool kernel_casts(void)
{
	return bpf_core_type_exists(struct bpf_uprobe_multi_run_ctx___pov);
}

static __always_inline struct task_struct___pov *thread_task(const struct pov_thread *t)
{
	return bpf_rdonly_cast((void *)t->task, bpf_core_type_id_kernel(struct task_struct___pov));
}

/*
 * The thread's entry of slot_hints. The verifier allows an address to be copied to a half register,
 * but not to be multiplied.
 */
static __always_inline u16 *slot_hint(struct pt_regs *ctx)
{
	u32 place;

	asm volatile("%0 = %1" : "=w"(place) : "w"((u32)(u64)ctx));
	return &slot_hints[place * 0x9e3779b1u >> (32 - SLOT_HINT_BITS)];
}

/*
 * Finds the current thread's state the slow way. If it has a slot, the fast way finds it from now
 * on.
 */
static __noinline struct pov_thread *thread_seek(struct pt_regs *ctx)
{
	struct task_struct *self = bpf_get_current_task_btf();
	u32 tid = self->pid;
	struct pov_thread *t = thread_find(self, tid);

	if (t && t == thread_slot(tid)) {
		t->regs = (u64)ctx;
		*slot_hint(ctx) = tid % THREAD_SLOTS;
	}
	return t;
}

/*
 * Finds the current thread's state without asking the kernel which thread runs: where function
 * returns are guarded, each helper call costs 15 ns or more. A probe's registers lie on the
 * thread's own kernel stack. The thread last seen there is the current one if it still has that
 * stack and its thread id. A thread that has ended no longer has that id in its task.
 */
static __always_inline struct pov_thread *thread_here(struct pt_regs *ctx)
{
	struct task_struct___pov *p;
	struct pov_thread *t;

	if (!kernel_casts())
		return thread_seek(ctx);
	t = thread_slot(*slot_hint(ctx));
	if (!t || t->regs != (u64)ctx)
		return thread_seek(ctx);
	p = thread_task(t);
	if ((u32)p->pid != t->tid || t->regs - (u64)p->stack >= STACK_BYTES_MAX)
		return thread_seek(ctx);
	return t;
}

/* Returns the same as bpf_get_attach_cookie. */
static __always_inline u64 cookie_of(struct pt_regs *ctx, const struct pov_thread *t)
{
	struct bpf_uprobe_multi_run_ctx___pov *run;

	if (!cfg.multi || !kernel_casts())
		return bpf_get_attach_cookie(ctx);
	run = bpf_rdonly_cast(thread_task(t)->bpf_ctx,
			      bpf_core_type_id_kernel(struct bpf_uprobe_multi_run_ctx___pov));
	return run->uprobe->cookie;
}

/* State of the current thread, once the collector knows of it; null if it belongs to no target. */
static __always_inline struct pov_thread *thread_calling(struct pt_regs *ctx)
{
	struct pov_thread *t = thread_here(ctx);

	return t && t->announced ? t : thread_meet(bpf_get_current_task_btf(), t);
}

/*
 * True if a call without a return probe is over when its thread enters func with stack pointer sp.
 * Either the thread has left the frame, or it calls the same function again from the same place,
 * with the same return address.
 */
static __always_inline bool frame_is_below(struct pov_frame *f, u64 sp, u32 func)
{
	return f->ret && (f->sp < sp || (f->sp == sp && frame_call(f)->func == func));
}

__noinline int frame_drop_below(struct pov_thread *t, u64 sp, u32 func, u64 now)
{
	u32 d;

	if (!t)
		return 0;
	d = t->depth - 1;
	if (d >= POV_CALL_DEPTH_MAX || !frame_is_below(frame_at(t, d), sp, func))
		return 0;
	t->depth = d;
	frame_emit(t, d, now, 0, POV_CALL_UNWOUND);
	return 1;
}

static __always_inline void frames_drop_below(struct pov_thread *t, u64 sp, u32 func, u64 now)
{
	u32 d = t->depth - 1, i;

	if (d >= POV_CALL_DEPTH_MAX || !frame_is_below(frame_at(t, d), sp, func))
		return;
	for (i = 0; i < POV_CALL_DEPTH_MAX; i++)
		if (!frame_drop_below(t, sp, func, now))
			break;
}

#define HIT_ENTRY 0
#define HIT_RETURN 1 /* stack pointers are even */

/* True if the same entry or return was just seen by way of the function's other link. */
static __noinline bool is_second_hit(struct pov_thread *t, u64 cookie, u64 sp, u32 what)
{
	u64 hit = (sp | what) ^ (u64)POV_COOKIE_FUNC(cookie) << 48;
	u32 period = exchanges >> 32;

	if (!t)
		return false;
	if (t->hit == hit && t->hit_period == period) {
		t->hit = 0;
		return true;
	}
	t->hit = hit;
	t->hit_period = period;
	return false;
}

SEC("uprobe")
int call_entry(struct pt_regs *ctx)
{
	u64 sp = PT_REGS_SP(ctx), now, cookie;
	u32 func, d, nargs;
	const struct pov_fn *fn;
	struct pov_thread *t;
	struct pov_frame *f;

	stay_on_own_stack(ctx);
	if (calls_until && calls_over(bpf_ktime_get_ns()))
		return 0;
	t = thread_calling(ctx);
	if (!t)
		return 0;
	cookie = cookie_of(ctx, t);
	func = POV_COOKIE_FUNC(cookie);
	fn = fn_find(func);
	if (!fn)
		return 0;
	/* a function whose return instructions have probes is never in two links */
	if ((u32)exchanges && !POV_PLACE(cookie) && is_second_hit(t, cookie, sp, HIT_ENTRY))
		return 0;
	now = bpf_ktime_get_ns();
	if (calls_over(now))
		return 0;
	if (t->depth) {
		frames_drop_below(t, sp, func, now);
		frames_drop_stale(t, trampoline_of(bpf_get_current_task_btf()), FROM_PROGRAM, now);
	}
	if (cfg.regions)
		regions_left(sp + 1);
	d = t->depth;
	nargs = call_nargs(fn);
	counted_look(t, now);
	f = call_enter(t, fn, cookie, nargs, PT_REGS_PARM1(ctx), sp, now);
	if (!f)
		return 0;
	if (POV_PLACE(cookie) & POV_PLACE_BEGINS && bpf_probe_read_user(&f->ret, 8, (void *)sp))
		f->ret = 0;
	if (fn->counted) {
		frame_fill(f, ctx, 0); /* the register arguments are enough */
		counted_entered(t, d, func, fn);
		return 0;
	}
	frame_fill(f, ctx, nargs);
	call_entered(t, d, func, fn, now);
	return 0;
}

/*
 * Counts a return whose entry was not seen: the call was in flight before there were probes. It is
 * no miss if the function's probes are removed and attached again by the overhead limit.
 */
static __noinline int entry_missed(struct pt_regs *ctx, struct pov_thread *t)
{
	const struct pov_fn *fn = t ? fn_find(POV_COOKIE_FUNC(cookie_of(ctx, t))) : NULL;

	if (!fn || !fn->counted)
		count(POV_COUNT_MISS(POV_MISS_NO_ENTRY));
	return 0;
}

/*
 * A perf event's return probe runs in every process that has any return probe in the function, not
 * only in its own (uretprobe_perf_func does not filter). Linux 6.13 no longer does that:
 * 4d756095d399 asks at entry.
 */
static __always_inline bool return_is_foreign(struct pt_regs *ctx)
{
	u32 tgid;

	if (cfg.multi)
		return false;
	tgid = POV_COOKIE_TGID(bpf_get_attach_cookie(ctx));
	return tgid && tgid != bpf_get_current_pid_tgid() >> 32;
}

SEC("uretprobe")
int call_return(struct pt_regs *ctx)
{
	const struct pov_fn *fn;
	struct pov_thread *t;
	u32 func, d;
	u64 now, sp;

	stay_on_own_stack(ctx);
	if (calls_until && calls_over(bpf_ktime_get_ns()))
		return 0;
	if (return_is_foreign(ctx))
		return 0;
	t = thread_here(ctx);
	if (!t)
		return 0;
	sp = entry_sp(ctx);
	if ((u32)exchanges && is_second_hit(t, cookie_of(ctx, t), sp, HIT_RETURN))
		return 0;
	d = call_returning(t, sp);
	if (d == CALL_NO_ENTRY)
		entry_missed(ctx, t);
	if (d >= POV_CALL_DEPTH_MAX)
		return 0;
	func = frame_call(frame_at(t, d))->func;
	fn = fn_find(func);
	if (!fn)
		return 0;
	now = bpf_ktime_get_ns();
	if (calls_over(now))
		return 0;
	if (frame_at(t, d)->counted) {
		counted_leave(t, d, now);
		return 0;
	}
	/* the site is the address to which the kernel is about to return */
	call_leave(t, d, func, fn, PT_REGS_RC(ctx), PT_REGS_IP(ctx), now);
	return 0;
}

#define JUMPS_MAX 2

/*
 * Ends the innermost call if it was entered with the current stack pointer. That must be checked:
 * the traced function may have jumped to another function, and others call that one, too. If a
 * wrapper jumps to the traced function, both return at once, with one stack pointer.
 */
static __always_inline bool call_returned(struct pt_regs *ctx, struct pov_thread *t)
{
	u64 now = bpf_ktime_get_ns();
	const struct pov_fn *fn;
	struct pov_frame *f;
	u32 d, func;

	if (calls_over(now))
		return false;
	d = frame_match(t, PT_REGS_SP(ctx));
	if (d >= POV_CALL_DEPTH_MAX)
		return false;
	f = frame_at(t, d);
	func = frame_call(f)->func;
	fn = fn_find(func);
	if (!f->ret || !fn)
		return false;
	if (f->counted)
		counted_leave(t, d, now);
	else
		call_leave(t, d, func, fn, PT_REGS_RC(ctx), f->ret, now);
	return true;
}

/*
 * Runs at a return instruction of functions that have no return probe (POV_PLACE_BEGINS). Loaded
 * when the first such probe is attached (user/target/late_program.h).
 */
SEC("late")
int call_left(struct pt_regs *ctx)
{
	struct pov_thread *t;
	u32 i;

	stay_on_own_stack(ctx);
	if (calls_until && calls_over(bpf_ktime_get_ns()))
		return 0;
	t = thread_here(ctx);
	if (!t || !t->depth)
		return 0;
	/* if one function has jumped to the other, both return here */
	for (i = 0; i < JUMPS_MAX; i++)
		if (!call_returned(ctx, t))
			break;
	return 0;
}

/* ---- static probes ---- */

/* Locations of static probes' arguments, by attach cookie. Written by the collector's helper. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, POV_NOTES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct pov_note);
} notes SEC(".maps");

static __always_inline int note_arg(struct pt_regs *ctx, const struct pov_note_arg *a, u64 *out)
{
	u32 bytes = a->bytes, shift = 64 - 8 * a->bytes;
	u64 v = a->value, reg;

	if (a->kind != POV_NOTE_CONSTANT) {
		if (bpf_probe_read_kernel(&reg, sizeof(reg), (void *)ctx + a->reg))
			return -1;
		v = a->kind == POV_NOTE_REGISTER ? reg : 0;
		if (a->kind == POV_NOTE_MEMORY &&
		    (bytes > sizeof(v) || bpf_probe_read_user(&v, bytes, (void *)(reg + a->value))))
			return -1;
	}
	v <<= shift & 63;
	*out = a->is_signed ? (u64)((s64)v >> (shift & 63)) : v >> (shift & 63);
	return 0;
}

/* Records the execution of a static probe as a call that takes no time. */
SEC("?uprobe")
int call_note(struct pt_regs *ctx)
{
	u64 cookie = bpf_get_attach_cookie(ctx), now = bpf_ktime_get_ns(), *args;
	const struct pov_note *note;
	const struct pov_fn *fn;
	struct pov_thread *t;
	struct pov_frame *f;
	u32 func = POV_COOKIE_FUNC(cookie), d, i;

	stay_on_own_stack(ctx);
	fn = fn_find(func);
	note = bpf_map_lookup_elem(&notes, &cookie);
	if (!fn || !note || calls_over(now))
		return 0;
	t = thread_calling(ctx);
	if (!t)
		return 0;
	if (t->depth)
		frames_drop_stale(t, return_trampoline(), FROM_PROGRAM, now);
	d = t->depth;
	if (d >= POV_CALL_DEPTH_MAX) {
		count(POV_COUNT_MISS(POV_MISS_DEPTH));
		return 0;
	}
	if (t->spinning >> d)
		spin_flush(t, d, ALL_TIMES);
	f = frame_begin(t, d, cookie, POV_NOTE_ARGS, PT_REGS_SP(ctx), now);
	args = (u64 *)(f->rec + sizeof(struct pov_call));
	for (i = 0; i < POV_NOTE_ARGS; i++)
		if (note_arg(ctx, &note->arg[i], &args[i])) {
			args[i] = 0;
			frame_call(f)->hdr.flags |= POV_CALL_FAULT;
		}
	if (fn->flags & POV_FN_FETCH_ENTRY)
		frame_fetch(t, d, func, fn, 0, now);
	frame_write(t, d, now, 0, 0);
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
