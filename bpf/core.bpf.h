/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Shared by all programs of the kernel half: configuration, maps, counters, and emit, the only way
 * in which a record leaves. emit never loses a record without counting it. Maps and constants are
 * weak, so that objects can be compiled separately and linked by bpftool.
 */
#ifndef POV_CORE_BPF_H
#define POV_CORE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi/config.h"
#include "abi/event.h"
#include "abi/preload.h"
#include "abi/thread.h"

#define PROCESSES_MAX 65536
#define FILES_MAX 65536
#define PATHS_MAX 16384
#define CONTROL_RING_BYTES (4u << 20)
#define THREAD_SLOTS 1024 /* a power of two */
#define SLOT_HINT_BITS 12
#define SLOT_HINTS (1 << SLOT_HINT_BITS)

/* Variables are defined in variables.bpf.c: weak ones would be copied into each linked object. */
extern const volatile struct pov_config cfg;

struct ring_inner {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* One ring per group of CPUs; index cfg.rings is the rescue ring. Filled by the collector. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, POV_RINGS_MAX);
	__type(key, u32);
	__array(values, struct ring_inner);
} rings __weak SEC(".maps");

/* Identity and images: rare records, which need one common order. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, CONTROL_RING_BYTES);
} control __weak SEC(".maps");

/* Drops, misses and stats (POV_COUNT_*). The collector maps and reads them. All are rare events. */
extern __u64 counters[POV_COUNTERS];
extern volatile __u64 drops[POV_DROPS];
/*
 * When the recording ends; 0: unknown yet. The collector sets it a moment ahead, so that all CPUs
 * see it in time. Calls that begin later are not recorded; calls that return later stay open.
 */
extern volatile __u64 calls_until;
/*
 * Lower half: number of links that are being exchanged. Meanwhile a function may have two, whose
 * programs both run at each entry and at each return. Upper half: how often this has begun.
 */
extern volatile __u64 exchanges;

/* The collector's last sign of life; 0: it has not started yet, or has ended. */
extern __u64 collector_ns;

/* Number of datatypes freed by all processes. Sizes cached from an older generation are stale. */
extern __u64 type_generation;

static __always_inline u64 type_generation_of(u64 handle)
{
	(void)handle;
	return type_generation;
}

/* A datatype of the library is freed, whose handle lies at `at`. */
static __always_inline void type_freed(u32 lib, u64 at)
{
	(void)lib, (void)at;
	__sync_fetch_and_add(&type_generation, 1);
}

/*
 * The steps of all bindings, and the number of changes to any process's bindings. Written by the
 * collector.
 */
extern struct pov_step binding_steps[POV_STEPS];
extern __u64 bindings_changes;

/* Slot where a thread's state may be, by where the kernel keeps its registers (call.bpf.c). */
extern __u16 slot_hints[SLOT_HINTS];

/* Threads that ever had their state in task storage (`threads`). */
extern __u64 threads_stored;

/* Processes to trace, by thread group id; enum pov_target_state. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESSES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, u32);
} targets __weak SEC(".maps");

/*
 * State of threads that make traced calls. A thread uses slot tid % THREAD_SLOTS if that was free
 * at its first call. Otherwise it uses its task storage, which takes some 30 ns longer to reach
 * (thread_find).
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, THREAD_SLOTS);
	__type(key, u32);
	__type(value, struct pov_thread);
} slots __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct pov_thread);
} threads __weak SEC(".maps");

/* Recipes by row of the function table. The collector sets the map's size and fills it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct pov_fn);
} fns __weak SEC(".maps");

/*
 * Layouts of the libraries found, by library id. Filled by the collector before it attaches probes.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, POV_LIBS_MAX);
	__type(key, u32);
	__type(value, struct pov_lib);
} libs __weak SEC(".maps");

/* Bindings mapped by each process. Filled by the collector before the process runs them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESSES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, struct pov_bindings);
} process_bindings __weak SEC(".maps");

/* Threads whose calls the preloaded library records, by thread id. Filled by the collector. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, POV_PRELOAD_THREADS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, struct pov_preloaded);
} preloaded __weak SEC(".maps");

static __always_inline struct pov_preloaded *preloaded_find(u32 tid)
{
	return cfg.preload ? bpf_map_lookup_elem(&preloaded, &tid) : NULL;
}

/* Address of a member of a preloaded thread's state, in that thread's process. */
#define PRELOADED_STATE(p, member) \
	((void *)((p)->address + __builtin_offsetof(struct pov_preload_area, state.member)))

static __always_inline void count(u32 idx)
{
	if (idx < POV_COUNTERS)
		__sync_fetch_and_add(&counters[idx], 1);
}

static __always_inline bool calls_over(u64 now)
{
	u64 until = calls_until;

	return until && now >= until;
}

/*
 * Keeps a uprobe program on its thread's own stack. Since Linux 6.13, programs of this type that
 * need 64 bytes or more get a stack per CPU (private stacks, bpf_enable_priv_stack). That is safe
 * only if a program cannot interrupt itself. These can: a thread may be preempted or sleep in one,
 * and the next thread runs the same program. A program with a tail call gets no private stack. This
 * tail call never happens: the verifier removes it, as the collector's process id is never 0.
 */
static __always_inline void stay_on_own_stack(void *ctx)
{
	if (!cfg.self_tgid)
		bpf_tail_call(ctx, NULL, 0);
}

static __always_inline bool is_target(u32 tgid)
{
	if (tgid == cfg.self_tgid)
		return false;
	return cfg.all || bpf_map_lookup_elem(&targets, &tgid);
}

/*
 * Counts a record that could not be written to a ring, with the start time of what it covers.
 * (drop.bpf.c)
 */
int drop_note(u32 ring, u32 class, u64 begin_ns);

static __always_inline u64 record_begin(const void *rec, u32 class)
{
	const struct pov_hdr *h = rec;
	const u64 *w = rec;

	if (h->kind == POV_KIND_REGION)
		return h->ts_ns;
	switch (class) {
	case POV_CLASS_CALL:
	case POV_CLASS_SPIN:
	case POV_CLASS_IRQ:
		return h->ts_ns - w[2]; /* dur_ns */
	case POV_CLASS_MORE:
		return w[2]; /* begin_ns */
	}
	return h->ts_ns;
}

/* Index of the ring of this CPU's group. */
static __always_inline u32 ring_here(void)
{
	u32 ring = bpf_get_smp_processor_id();

	if (cfg.cpus_per_ring > 1)
		ring /= cfg.cpus_per_ring;
	return ring < cfg.rings ? ring : 0;
}

/*
 * Writes a finished record to its CPU group's ring. If that is full, writes it to the rescue ring,
 * and else counts it as dropped under its class. The collector polls; it is woken only when a ring
 * fills up. That is checked if look is true.
 */
static __always_inline int emit_look(const void *rec, u64 size, u32 class, bool look)
{
	u32 ring = ring_here(), rescue = cfg.rings;
	u64 wake = BPF_RB_NO_WAKEUP;
	void *rb;

	rb = bpf_map_lookup_elem(&rings, &ring);
	if (rb) {
		if (look && bpf_ringbuf_query(rb, BPF_RB_AVAIL_DATA) > cfg.wake_bytes)
			wake = BPF_RB_FORCE_WAKEUP;
		if (!bpf_ringbuf_output(rb, (void *)rec, size, wake))
			return 0;
	}
	rb = bpf_map_lookup_elem(&rings, &rescue);
	if (rb && !bpf_ringbuf_output(rb, (void *)rec, size, BPF_RB_FORCE_WAKEUP)) {
		count(POV_COUNT_STAT(POV_STAT_RESCUED));
		return 0;
	}
	drop_note(ring, class, record_begin(rec, class));
	return -1;
}

static __always_inline int emit(const void *rec, u64 size, u32 class)
{
	return emit_look(rec, size, class, true);
}

/*
 * Writes an identity record to the control ring, with the same guarantee. The collector is woken at
 * once if a thread waits for its answer, or if what the record describes is short-lived. It takes
 * other records when it polls. Drops count under the rescue ring's index.
 */
static __always_inline int emit_control(const void *rec, u64 size, bool urgent)
{
	u64 wake = BPF_RB_NO_WAKEUP;

	if (urgent || bpf_ringbuf_query(&control, BPF_RB_AVAIL_DATA) > CONTROL_RING_BYTES / 8)
		wake = BPF_RB_FORCE_WAKEUP;
	if (!bpf_ringbuf_output(&control, (void *)rec, size, wake))
		return 0;
	drop_note(cfg.rings, POV_CLASS_TASK, record_begin(rec, POV_CLASS_TASK));
	return -1;
}

#ifdef __TARGET_ARCH_x86
/* Sets all but the thread's numbers. */
static __always_inline void regs_read(struct pov_regs *r, struct pt_regs *from)
{
	r->pc = BPF_CORE_READ(from, ip);
	r->reg[0] = BPF_CORE_READ(from, ax);
	r->reg[1] = BPF_CORE_READ(from, dx);
	r->reg[2] = BPF_CORE_READ(from, cx);
	r->reg[3] = BPF_CORE_READ(from, bx);
	r->reg[4] = BPF_CORE_READ(from, si);
	r->reg[5] = BPF_CORE_READ(from, di);
	r->reg[6] = BPF_CORE_READ(from, bp);
	r->reg[7] = BPF_CORE_READ(from, sp);
	r->reg[8] = BPF_CORE_READ(from, r8);
	r->reg[9] = BPF_CORE_READ(from, r9);
	r->reg[10] = BPF_CORE_READ(from, r10);
	r->reg[11] = BPF_CORE_READ(from, r11);
	r->reg[12] = BPF_CORE_READ(from, r12);
	r->reg[13] = BPF_CORE_READ(from, r13);
	r->reg[14] = BPF_CORE_READ(from, r14);
	r->reg[15] = BPF_CORE_READ(from, r15);
}
#endif

static __always_inline struct pov_thread *thread_slot(u32 tid)
{
	u32 idx = tid % THREAD_SLOTS;

	return bpf_map_lookup_elem(&slots, &idx);
}

/*
 * State of thread p with id tid; null if it has made no traced call. For the current thread, take
 * both from its task: where function returns are guarded, helper calls are the largest cost here.
 */
static __always_inline struct pov_thread *thread_find(struct task_struct *p, u32 tid)
{
	struct pov_thread *t = thread_slot(tid);

	if (!tid)
		return NULL;
	if (t && t->tid == tid)
		return t;
	return threads_stored ? bpf_task_storage_get(&threads, p, NULL, 0) : NULL;
}

/* thread_info has held the CPU since 5.16 on x86 (commit bcf9033e5449); before, the task did. */
struct task_struct___cpu {
	unsigned int cpu;
} __attribute__((preserve_access_index));

static __always_inline u16 task_cpu(struct task_struct *p)
{
	if (bpf_core_field_exists(p->thread_info.cpu))
		return BPF_CORE_READ(p, thread_info.cpu);
	return BPF_CORE_READ((struct task_struct___cpu *)p, cpu);
}

/*
 * Masks an array index in assembly. The compiler knows the range and would drop a plain mask; the
 * verifier has lost the range and needs one. Sizes are powers of two.
 */
#define index_mask(idx, size)                                                 \
	({                                                                    \
		u64 i__ = (idx);                                              \
		_Static_assert(((size) & ((size)-1)) == 0, "a power of two"); \
		asm volatile("%0 &= %1" : "+r"(i__) : "i"((size)-1));         \
		i__;                                                          \
	})

/*
 * True if any recipe has this fetch. Newer verifiers do not even look at code that no recipe needs.
 */
#define fetch_exists(op) (cfg.fetches >> (op)&1)

#include "call_state.h"

static __always_inline const struct pov_fn *fn_find(u32 func)
{
	return bpf_map_lookup_elem(&fns, &func);
}

static __always_inline struct pov_lib *lib_find(u32 lib)
{
	return bpf_map_lookup_elem(&libs, &lib);
}

/* True if any process has bindings. */
static __always_inline bool bindings_exist(void)
{
	return bindings_changes;
}

/* The thread's copy of its process's bindings, refreshed after any process's have changed. */
static __always_inline const struct pov_bindings *thread_bindings(struct pov_thread *t)
{
	u64 changes = bindings_changes;
	const struct pov_bindings *b;
	u32 tgid = t->tgid;

	if (t->bindings_seen == changes)
		return &t->bindings;
	t->bindings_seen = changes;
	b = bpf_map_lookup_elem(&process_bindings, &tgid);
	if (b)
		t->bindings = *b;
	else
		__builtin_memset(&t->bindings, 0, sizeof(t->bindings));
	return &t->bindings;
}

/* Stack pointer of the calling function, just after the call in a frame has returned to it. */
static __always_inline u64 frame_caller_sp(const struct pov_frame *f)
{
	return f->sp + 8;
}

/* Hash of the CPU mask last reported for a target's thread; 0: none reported yet. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, u64);
} masks __weak SEC(".maps");

/*
 * Writes the CPU mask of a target's thread if it changed since the last report. Not inlined,
 * because its stack would add to that of all functions below its caller.
 */
static __noinline __attribute__((unused)) int mask_check(struct task_struct *p)
{
	u64 *last = bpf_task_storage_get(&masks, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	u32 bytes = bpf_core_field_size(p->cpus_mask), i;
	struct pov_affinity r = {};
	u64 sum = 1;

	if (!last)
		return 0;
	if (bytes > (cfg.cpus + 63) / 64 * 8)
		bytes = (cfg.cpus + 63) / 64 * 8;
	if (bytes > sizeof(r.mask))
		bytes = sizeof(r.mask);
	bpf_core_read(&r.mask, bytes, &p->cpus_mask);
	for (i = 0; i < POV_CPUMASK_WORDS && 64 * i < cfg.cpus; i++) {
		/* the kernel may leave anything in the bits after the last CPU */
		if (64 * (i + 1) > cfg.cpus)
			r.mask[i] &= ~0ull >> (64 - cfg.cpus % 64);
		sum = sum * 31 + r.mask[i];
	}
	if (*last == sum)
		return 0;
	*last = sum;
	hdr_init(&r.hdr, POV_KIND_AFFINITY, sizeof(r), BPF_CORE_READ(p, pid), bpf_ktime_get_ns());
	r.tgid = BPF_CORE_READ(p, tgid);
	r.nr_cpus = BPF_CORE_READ(p, nr_cpus_allowed);
	return emit_control(&r, sizeof(r), false);
}

/*
 * The return trampoline of a thread's process: the address to which the kernel redirects functions
 * that have a return probe. 0: no function has had one yet.
 */
static __always_inline u64 trampoline_of(struct task_struct *self)
{
	struct xol_area *area = self->mm->uprobes_state.xol_area;

	return area->vaddr;
}

/*
 * The current thread's return trampoline. Quick to verify, but 10 ns slower where function returns
 * are guarded. (return_probe.bpf.c)
 */
u64 return_trampoline(void);

/*
 * True while a call is in flight: its return address is the return trampoline until it returns, or
 * until something else overwrites it (longjmp, exception, an abandoned coroutine).
 */
static __always_inline bool frame_alive(u64 trampoline, u64 sp)
{
	u64 ret = 0;

	return trampoline && !bpf_probe_read_user(&ret, 8, (void *)sp) && ret == trampoline;
}

/* At return: the stack pointer that the function had at entry. */
static __always_inline u64 entry_sp(struct pt_regs *ctx)
{
#ifdef __TARGET_ARCH_x86
	return PT_REGS_SP(ctx) - 8;
#else
	return PT_REGS_SP(ctx);
#endif
}

/*
 * Return address of the frame whose return probe is pending; 0 if not found. The kernel keeps this
 * address, because it has replaced it on the stack by its own. (return_probe.bpf.c)
 */
u64 frame_site_among(u64 return_instances, u64 sp);

/* Return instances of thread p, which must not have exited. */
static __always_inline u64 return_instances(struct task_struct *p)
{
	return (u64)BPF_CORE_READ(p, utask, return_instances);
}

/*
 * Looks up where the call in frame idx, which is in flight, was made, unless that is known.
 * (return_probe.bpf.c)
 */
int frame_site_find(struct pov_thread *t, u32 idx, u64 return_instances);

/*
 * Ends the current thread's regions that its program left without returning, given its stack
 * pointer. (region.bpf.c)
 */
int regions_left(u64 sp);

/*
 * Update a process's open questions (image.bpf.c). A forked process keeps its parent's loader;
 * after exec it has another.
 */
int image_fork(u32 parent, u32 child);
int image_exec(u32 tgid);
int image_exit(u32 tgid);

#endif
