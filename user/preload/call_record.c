/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Records calls with the kernel half's code (bpf/call_steps.h). Adds the clock, and tests whether
 * the calls on the thread's stack are still open.
 */

#include <signal.h>

#include "preload/library.h"

#define CANARY 0x9e3779b97f4a7c15ull
#define WAIT_NS 1000000000ull /* longest wait for the process's rank */

struct cfg cfg;
u64 type_generation[TYPE_GENERATIONS];
struct pov_bindings process_bindings;
/*
 * Address of the mark of the call that is being recorded; 0: none. If a signal handler interrupts
 * the recording, the handler's calls are not recorded.
 */
static __thread u64 busy;

static long (*vdso_getcpu)(u32 *cpu, u32 *node, void *unused);
static ptrdiff_t rseq_offset; /* 0: unknown */
static u64 stack_top;	      /* upper end of the first thread's stack */

static bool rseq_find(void *ctx, const struct link_map *map)
{
	const ptrdiff_t *offset = loaded_symbol(map, "__rseq_offset");
	const u32 *size = loaded_symbol(map, "__rseq_size");

	if (offset && size && *size)
		rseq_offset = *offset;
	return !offset;
}

void record_begins(u64 vdso, u64 top)
{
	stack_top = top;
	if (vdso)
		vdso_getcpu = (long (*)(u32 *, u32 *, void *))loaded_vdso_symbol(vdso,
										 "__vdso_getcpu");
}

void record_setup(void)
{
	cfg.spin_gap_ns = setup->spin_gap_ns;
	loaded_each(rseq_find, NULL);
}

static __noinline u32 cpu_asked(void)
{
	u32 cpu = 0;

	if (vdso_getcpu)
		vdso_getcpu(&cpu, NULL, NULL);
	else
		sys3(__NR_getcpu, (long)&cpu, 0, 0);
	return cpu;
}

/*
 * Returns the current CPU, which the kernel keeps in the thread's restartable sequence (struct
 * rseq, cpu_id) if the C library has registered one (glibc 2.35).
 */
u32 cpu_here(void)
{
	u32 cpu;

	if (!rseq_offset)
		return cpu_asked();
	cpu = *(const volatile u32 *)((const char *)__builtin_thread_pointer() + rseq_offset + 4);
	return (s32)cpu >= 0 ? cpu : cpu_asked();
}

/*
 * Returns true if the aligned word at an address is readable. Requests an invalid change of the
 * signal mask: the kernel reads the word before it refuses.
 */
static bool word_readable(u64 at)
{
	return sys4(__NR_rt_sigprocmask, -1, (long)(at & ~7ull), 0, 8) != -EFAULT;
}

/* ---- the process's rank ---- */

int world_report(u32 done)
{
	area->world_ns = clock_now();
	__atomic_store_n(&area->world_state,
			 done ? POV_PRELOAD_WORLD_DONE : POV_PRELOAD_WORLD_BEGINS,
			 __ATOMIC_RELEASE);
	return 0;
}

/*
 * Waits until the collector has read the rank. Makes no system call, because the program may have
 * forbidden itself system calls. Mostly the answer has already arrived.
 */
int world_wait(void)
{
	u64 begin = clock_now(), now = begin, alive;

	while (area->world_state == POV_PRELOAD_WORLD_DONE && now - begin < WAIT_NS &&
	       !__atomic_load_n(&area->world_answered, __ATOMIC_ACQUIRE)) {
		alive = __atomic_load_n(&setup->collector_ns, __ATOMIC_RELAXED);
		if (!alive || now > alive + POV_ALIVE_NS)
			break;
		__asm__ volatile("pause");
		now = clock_now();
	}
	return 0;
}

/* ---- frames ---- */

/*
 * The kernel leaves at least 128 MiB below the first thread's stack so that it can grow (gap_min,
 * gap of mmap_base() in arch/x86/mm/mmap.c). What the stack has used remains mapped. So addresses
 * this close to its upper end are readable.
 */
#define STACK_ALONE (64ull << 20)

static bool stack_lasts(u64 sp, u64 here)
{
	return sp / PAGE_ZERO_BYTES == here / PAGE_ZERO_BYTES || stack_top - sp < STACK_ALONE ||
	       word_readable(sp);
}

/*
 * Returns true if a call is still open: the mark in its frame of hook_enter is intact. On the same
 * stack, marks at or below `here` belong to frames that have been left. The memory of another stack
 * (a coroutine's) may be gone.
 */
static __always_inline bool frame_lasts(u64 trampoline, u64 sp, u64 here)
{
	if (sp <= here)
		return false;
	return stack_lasts(sp, here) && *(const volatile u64 *)sp == (sp ^ CANARY);
}

/* Asks the kernel whether the thread handles a signal on a stack of its own. */
static bool is_on_signal_stack(void)
{
	stack_t ss;

	return !sys3(__NR_sigaltstack, 0, (long)&ss, 0) && ss.ss_flags & SS_ONSTACK;
}

static __always_inline int frame_out(struct pov_thread *t, struct pov_frame *f, u64 size)
{
	return emit(f->rec, size, POV_CLASS_CALL);
}

#include "preload/known_types.h"

#include "call_steps.h"

/* Shows the kernel half the call in frame 0, just before depth becomes 1. */
static __always_inline void outer_begins(struct pov_thread *t)
{
	const struct pov_call *c = frame_call(frame_at(t, 0));

	t->outer_func = c->func;
	t->outer_begin_ns = c->hdr.ts_ns;
	barrier();
}

#include "preload/brief.h"
#include "preload/poll_again.h"

/* ---- called by hook_enter ---- */

/* Begins a call by the recipe fn. Not for polls that poll_begin handles. */
static __always_inline void call_begin(const struct hook *hook, const struct pov_fn *fn,
				       const u64 *args, u64 sp, u64 now)
{
	struct pov_thread *t = &area->state;
	u32 d, nargs = call_nargs(fn), func = setup->first_row + hook->row;
	struct pov_frame *f;

	poll_again.hook = NULL;
	brief = NULL;
	if (t->depth)
		frames_drop_stale(t, 0, sp, now);
	d = t->depth;
	counted_look(t, now);
	f = call_enter(t, fn, POV_COOKIE(func, hook->lib), nargs, args[0], sp, now);
	if (!f)
		return;
	frame_call(f)->site = *(const u64 *)(sp + MARK_CALLER);
	/* the first argument identifies wrappers, even if no argument is recorded */
	for (u32 i = 0; i < nargs || !i; i++)
		frame_args(f)[i] = args[i];
	if (!d)
		outer_begins(t);
	if (fn->counted) {
		counted_entered(t, d, func, fn);
		return;
	}
	if (bindings_exist()) /* now, because the call may never return */
		site_leave_bindings(t, d);
	call_entered(t, d, func, fn, now);
	if (!d && fn->flags & POV_FN_POLL)
		poll_remember(t, hook, fn);
}

/*
 * Fetches the cache lines for the next record while the program's call runs. The collector has just
 * read from them, so this core does not own them. Most records end in the second line.
 */
static __always_inline void room_prefetch(const struct pov_preload_area *a)
{
	const u8 *to = ring.at + (a->head & (ring.bytes - 1));

	__asm__ volatile("prefetchw %0" : : "m"(to[0]));
	__asm__ volatile("prefetchw %0" : : "m"(to[64]));
}

/* ---- what it costs ---- */

/* A half that took longer was interrupted. */
#define SAMPLE_NS_MAX 2000
static u64 sample_every = POV_HALF_EVERY; /* a power of two */

/* Ends a sample of one half of a call's recording, which began at from_ns. */
static __always_inline void sample_take(enum pov_half_of of, u64 from_ns)
{
	struct pov_half *s = &area->sample[of];
	u64 ns;

	if (s->calls++ & (sample_every - 1))
		return;
	ns = clock_now() - from_ns;
	if (ns > SAMPLE_NS_MAX)
		return;
	s->ns += ns;
	s->cnt++;
}

/* ---- both ends of a call ---- */

/*
 * Returns true if the recording of another call was never finished, because a signal handler left
 * it by a jump. False: it is only interrupted, and will go on. sp: mark of the call that begins or
 * returns now.
 */
static bool recording_is_left(u64 sp)
{
	if (sp >= busy)
		return sp == busy || !is_on_signal_stack();
	return !stack_lasts(busy, sp) || *(const volatile u64 *)busy != (busy ^ CANARY);
}

/* Called while another call is being recorded. False: that recording will go on. */
static __noinline bool recording_take_over(u64 sp)
{
	if (!recording_is_left(sp))
		return false;
	poll_again.hook = NULL;
	brief = NULL;
	if (area && *area_same_process)
		kept_forget(area);
	return true;
}

static void interrupting_count(const struct hook *hook)
{
	u64 until = __atomic_load_n(&setup->calls_until, __ATOMIC_RELAXED);

	if (area && *area_same_process && !setup->fn[hook->row].unused &&
	    (!until || clock_now() < until))
		count(POV_COUNT_MISS(POV_MISS_BUSY));
}

bool record_begin(const struct hook *hook, const u64 *args, struct call_mark *mark)
{
	u64 until, now, sp = (u64)mark;
	const struct pov_fn *fn;

	if (busy && !recording_take_over(sp)) {
		interrupting_count(hook);
		return false;
	}
	mark->canary = sp ^ CANARY;
	busy = sp;
	if ((!area || !*area_same_process) && !area_find())
		goto out;
	until = __atomic_load_n(&setup->calls_until, __ATOMIC_RELAXED);
	fn = &setup->fn[hook->row];
	if (fn->unused)
		goto out;
	now = clock_now();
	if (until && now >= until)
		goto out;
	if (fn->brief && !fn->counted && brief_begin(&area->state, hook, fn, args, sp, now)) {
		poll_again.hook = NULL;
		sample_take(POV_HALF_BRIEF_BEGIN, now);
	} else if (fn->counted || !poll_begin(&area->state, hook, args, sp, now)) {
		call_begin(hook, fn, args, sp, now);
		if (!fn->counted) {
			room_prefetch(area);
			sample_take(POV_HALF_BEGIN, now);
		}
	}
	busy = 0;
	return true;
out:
	busy = 0;
	return false;
}

/* The call in frame d returns. */
static __always_inline void frame_return(struct pov_thread *t, u32 d, u64 ret, u64 now)
{
	u32 func = frame_call(frame_at(t, d))->func;
	const struct pov_fn *fn = fn_find(func);

	if (fn)
		call_leave(t, d, func, fn, ret, frame_call(frame_at(t, d))->site, now);
	sample_take(POV_HALF_END, now);
}

static __always_inline void call_return(struct pov_thread *t, u64 sp, u64 ret, u64 now)
{
	u32 d = call_returning(t, sp);

	if (d < POV_CALL_DEPTH_MAX && frame_at(t, d)->counted)
		counted_leave(t, d, now);
	else if (d < POV_CALL_DEPTH_MAX)
		frame_return(t, d, ret, now);
	else if (d == CALL_NO_ENTRY)
		count(POV_COUNT_MISS(POV_MISS_NO_ENTRY));
}

void record_end(const struct call_mark *mark, u64 ret, u64 site)
{
	struct pov_thread *t;
	u64 until, now;

	if (!area || !*area_same_process || /* a callback may have forked */
	    (busy && !recording_take_over((u64)mark)))
		return;
	busy = (u64)mark;
	now = clock_now();
	until = __atomic_load_n(&setup->calls_until, __ATOMIC_RELAXED);
	t = &area->state;
	if (!until || now < until) {
		if (brief_end(t, (u64)mark, ret, now))
			sample_take(POV_HALF_BRIEF_END, now);
		else if (!poll_end(t, (u64)mark, ret, site, now))
			call_return(t, (u64)mark, ret, now);
	}
	busy = 0;
}

/* ---- calibration ---- */

#define BATCHES 5
#define BATCH_CALLS 64

/* Returns a function that is recorded with its arguments only; setup->rows if there is none. */
static u32 row_plain(void)
{
	u32 row = 0;

	while (row < setup->rows &&
	       (setup->fn[row].unused || setup->fn[row].counted || setup->fn[row].nfetch ||
		setup->fn[row].brief || setup->fn[row].learn ||
		setup->fn[row].flags & ~POV_FN_WRAPPED))
		row++;
	return row;
}

static u64 batch_called_ns(u32 row)
{
	const struct hook hook = {.moved = (u64)hook_nothing, .row = row};
	u64 begin = clock_now();

	for (int i = 0; i < BATCH_CALLS; i++)
		hook_call(&hook);
	return clock_now() - begin;
}

static void counting_forget(void)
{
	area->state.counting[0].calls = area->state.counting_ns = 0;
}

static u64 batch_counted_ns(u32 row)
{
	const u64 args[POV_CALL_ARGS_MAX] = {0};
	const struct hook hook = {.row = row};
	struct pov_fn fn = setup->fn[row];
	struct call_mark mark = {0};
	u64 begin = clock_now(), end;

	fn.counted = 1;
	for (int i = 0; i < BATCH_CALLS; i++) {
		mark.canary = (u64)&mark ^ CANARY;
		busy = (u64)&mark;
		call_begin(&hook, &fn, args, (u64)&mark, clock_now());
		busy = 0;
		record_end(&mark, 0, 0);
	}
	end = clock_now();
	counting_forget();
	return end - begin;
}

static u64 median_ps(u64 (*batch_ns)(u32 row), u32 row)
{
	u64 ns[BATCHES] = {0}, next;
	int at;

	for (int i = 0; i < BATCHES; i++) { /* keep ns sorted */
		next = batch_ns(row);
		for (at = i; at > 0 && ns[at - 1] > next; at--)
			ns[at] = ns[at - 1];
		ns[at] = next;
	}
	return ns[BATCHES / 2] * 1000 / BATCH_CALLS;
}

/* Returns a function whose bytes are read when it is counted; else row. */
static u32 row_sized(u32 row)
{
	for (u32 i = 0; i < setup->rows; i++)
		if (!setup->fn[i].unused && setup->fn[i].count_bytes)
			return i;
	return row;
}

/* Returns a function whose brief calls are counted; else row. */
static u32 row_brief(u32 row)
{
	for (u32 i = 0; i < setup->rows; i++)
		if (!setup->fn[i].unused && setup->fn[i].brief && !setup->fn[i].learn &&
		    setup->fn[i].made_arg == POV_ARG_NONE)
			return i;
	return row;
}

/* Measures both halves of calls of `row`, each of which is sampled. */
static void halves_measure(u32 row, enum pov_half_of begin)
{
	sample_every = 1;
	for (int half = 0; half < 2; half++)
		area->sample[begin + half] = (struct pov_half){0};
	(void)batch_called_ns(row);
	for (int half = 0; half < 2; half++) {
		struct pov_half *s = &area->sample[begin + half];

		area->hot_ps[begin + half] = s->cnt ? s->ns * 1000 / s->cnt : 0;
		*s = (struct pov_half){0};
	}
	sample_every = POV_HALF_EVERY;
}

void record_calibrate(void)
{
	u64 head = area->head;
	u32 row = row_plain();
	u64 was = busy;

	poll_again.hook = NULL; /* it may belong to another area */
	if (row == setup->rows)
		return;
	busy = 0;
	area->cost_ps = median_ps(batch_called_ns, row);
	area->counted_ps = median_ps(batch_counted_ns, row_sized(row));
	area->brief_ps = median_ps(batch_called_ns, row_brief(row));
	halves_measure(row, POV_HALF_BEGIN);
	halves_measure(row_brief(row), POV_HALF_BRIEF_BEGIN);
	counting_forget();
	kept_forget(area);
	busy = was;
	area->head = head;
}

/* ---- a slot's last thread ---- */

void record_thread_gone(void)
{
	struct pov_thread *t = &area->state;
	u64 now;

	poll_again.hook = NULL;
	kept_forget(area); /* the last thread may have been killed while it wrote a record */
	if (!t->depth && !t->spinning && !t->counting_ns)
		return;
	now = clock_now();
	while (t->depth && t->depth <= POV_CALL_DEPTH_MAX) {
		t->depth--;
		frame_emit(t, t->depth, now, 0, POV_CALL_OPEN);
	}
	spin_flush(t, 0, ALL_TIMES);
	counted_flush(t);
}

/* ---- stubs for layers that are not recorded here ---- */

u64 work_fetch(struct pov_thread *t, u32 idx, u32 what)
{
	(void)t, (void)idx, (void)what;
	return 0;
}

int work_list(struct pov_thread *t, u32 idx, u32 what, u64 p, u64 now)
{
	(void)t, (void)idx, (void)what, (void)p, (void)now;
	return 0;
}

int work_accepted(struct pov_thread *t, u32 idx, u32 what)
{
	(void)t, (void)idx, (void)what;
	return 0;
}
