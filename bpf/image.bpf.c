// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Code that targets map, and how they wait for its inspection. No process is ever stopped. A thread
 * that maps an unknown file goes on. It waits inside the kernel, in a probe of the dynamic loader,
 * before the first instruction of the mapped code runs. For a file about to be executed, it waits
 * in libc's execve. Code that these probes miss gets its own probes late, and is reported as late:
 * static programs run by static programs, or programs with an unknown loader.
 *
 * In the same way, threads wait in functions that hand over others as pointers, until those have
 * probes.
 */
#include "core.bpf.h"

#define VM_EXEC 0x4
#define PAGE_SHIFT 12
#define WAIT_ROUNDS (1 << 23) /* bpf_loop's own limit, which lasts half a second */
#define WAIT_LOOPS 64	      /* so a wait needs several loops */
#define WAIT_YIELD_NS 10000
#define WAIT_PROBE_NS 1000000
#define YIELDS_LATE_MANY 8
#define SIGNAL_GROUP_EXIT 0x4
#define PATH_KNOWN_NS 5000000

/* Files that the collector has inspected: enum pov_file_state. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct pov_file_key);
	__type(value, u32);
} files SEC(".maps");

/*
 * Paths being executed → time when the collector last inspected the file there. The ranks of a job
 * execute the same path at almost the same time. Within PATH_KNOWN_NS, other processes need not ask
 * again: that is less time than it takes to run a program, replace it and run the new one. Written
 * by the collector.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PATHS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct pov_path_key);
	__type(value, u64);
} paths SEC(".maps");

/*
 * Questions to the collector: process → time of its last question, and of the last one answered.
 * Each side writes a map of its own, so that no answer can hide a question. Only for a process that
 * a daemon has started does the collector ask, too.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PROCESSES_MAX);
	__type(key, u32);
	__type(value, u64);
} asked SEC(".maps"), answered SEC(".maps");

/*
 * Processes whose loader runs our probe → since when. They wait for the inspection of what they
 * map.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PROCESSES_MAX);
	__type(key, u32);
	__type(value, u64);
} waiting SEC(".maps");

/*
 * Processes that have loaded the library that records their calls (POV_FILE_PRELOAD). Also written
 * by the collector.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PROCESSES_MAX);
	__type(key, u32);
	__type(value, u32);
} preload_loaded SEC(".maps");

/*
 * How functions with a probe of handover_wait hand over others, by attach cookie. Written by the
 * collector's helper.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, POV_HANDOVERS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct pov_handover);
} handovers SEC(".maps");

/*
 * Handovers that a process has already asked about: it may repeat one with each object that it
 * makes.
 */
struct handed_key {
	u64 hash; /* hash of the pointers */
	u64 tgid;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PROCESSES_MAX);
	__type(key, struct handed_key);
	__type(value, u32);
} handed SEC(".maps");

/*
 * A file's time of change, as its members are named before 6.6, from 6.6, and from 6.11 on (commits
 * 13bc24457850, 3aa63a569c64).
 */
struct inode___ctime {
	struct timespec64 i_ctime;
} __attribute__((preserve_access_index));
struct inode___ctime_private {
	struct timespec64 __i_ctime;
} __attribute__((preserve_access_index));
struct inode___ctime_parts {
	time64_t i_ctime_sec;
	u32 i_ctime_nsec;
} __attribute__((preserve_access_index));

#define CTIME_QUERIED (1u << 31) /* flag in i_ctime_nsec since 6.13 (commit 4e40eff0b573) */

static __always_inline u64 file_stamp(struct inode *inode)
{
	struct inode___ctime_parts *parts = (void *)inode;
	struct inode___ctime_private *private = (void *)inode;
	struct inode___ctime *old = (void *)inode;
	u64 sec, nsec;

	if (bpf_core_field_exists(parts->i_ctime_sec)) {
		sec = BPF_CORE_READ(parts, i_ctime_sec);
		nsec = BPF_CORE_READ(parts, i_ctime_nsec) & ~CTIME_QUERIED;
	} else if (bpf_core_field_exists(private->__i_ctime)) {
		sec = BPF_CORE_READ(private, __i_ctime.tv_sec);
		nsec = BPF_CORE_READ(private, __i_ctime.tv_nsec);
	} else {
		sec = BPF_CORE_READ(old, i_ctime.tv_sec);
		nsec = BPF_CORE_READ(old, i_ctime.tv_nsec);
	}
	return POV_FILE_STAMP(sec, nsec, BPF_CORE_READ(inode, i_size));
}

/* ---- questions ---- */

static __always_inline void question_ask(u32 tgid, u64 now)
{
	bpf_map_update_elem(&asked, &tgid, &now, BPF_ANY);
	count(POV_COUNT_STAT(POV_STAT_QUESTIONS));
}

/* Gives up a question that could not be sent, as no answer would come. */
static __always_inline void question_drop(u32 tgid, u64 now)
{
	bpf_map_update_elem(&answered, &tgid, &now, BPF_ANY);
	count(POV_COUNT_MISS(POV_MISS_WAIT));
}

static __always_inline bool question_is_answered(u32 tgid)
{
	u64 *a = bpf_map_lookup_elem(&answered, &tgid), *q = bpf_map_lookup_elem(&asked, &tgid);

	return !q || (a && *a >= *q);
}

/*
 * Pages that waiting threads free. Meanwhile, the kernel calls the scheduler, holding only the
 * arena's own lock, which nobody else wants. The pages were never allocated, except the last one,
 * by the collector. That one is not freed: it makes the kernel have page tables to walk.
 */
struct {
	__uint(type, POV_MAP_ARENA);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, POV_YIELD_PAGES);
} yield_pages SEC(".maps");
extern void bpf_arena_free_pages(void *map, void *first, u32 cnt) __ksym __weak;
const volatile bool yield_pages_exist = false;
__u64 yield_pages_at = 0; /* address at which the collector maps them */

/* Times that yield_late called the scheduler although it had been called just before. */
__u64 yields_late = 0;

struct wait {
	u64 until_ns, yield_ns, probe_ns, sp;
	u32 tgid;
	s32 end; /* enum wait_end */
};

/*
 * The collector gives a sign of life every few milliseconds; a killed or stopped one must not block
 * anybody.
 */
static __always_inline bool collector_lives(u64 now)
{
	return now < collector_ns + POV_ALIVE_NS;
}

/*
 * Calls the scheduler on a kernel without any preemption, as a side effect. Where there are no
 * arenas, the only way is to read memory (cond_resched in __get_user_pages), which holds the lock
 * of the memory map. Anyone putting probes into this process needs that lock, and does not get it
 * until this thread runs again.
 */
static __always_inline void yield_late(struct task_struct *self, u64 sp)
{
	char byte;

	if (yield_pages_exist)
		bpf_arena_free_pages(&yield_pages, (void *)yield_pages_at, POV_YIELD_PAGES - 1);
	else
		bpf_copy_from_user_task(&byte, 1, (void *)sp, self, 0);
}

/*
 * Lets other threads run where the kernel is not preemptible. Reading memory the long way calls the
 * scheduler before it takes a lock (might_sleep), which suffices under voluntary preemption.
 * Without any preemption, yield_late is needed. It is tried rarely, and used often only once it has
 * proved that the first way does not suffice.
 */
static __always_inline void wait_yield(struct wait *w, u64 now)
{
	struct task_struct *self = bpf_get_current_task_btf();
	u64 switches;
	char byte;

	w->yield_ns = now + WAIT_YIELD_NS;
	if (yields_late < YIELDS_LATE_MANY) {
		bpf_copy_from_user_task(&byte, 1, (void *)8, self, 0);
		if (now < w->probe_ns)
			return;
		w->probe_ns = now + WAIT_PROBE_NS;
	}
	switches = BPF_CORE_READ(self, nivcsw);
	yield_late(self, w->sp);
	if (BPF_CORE_READ(self, nivcsw) != switches && yields_late < YIELDS_LATE_MANY)
		__sync_fetch_and_add(&yields_late, 1);
}

enum wait_end { WAIT_GOES_ON = 0, WAIT_OVER = 1, WAIT_KILLED = 2 };

/* __noinline: otherwise the verifier would check this once for each loop state. */
__noinline int wait_end(u32 tgid, u64 until_ns, u64 now)
{
	struct task_struct *self = bpf_get_current_task_btf();

	if (BPF_CORE_READ(self, signal, flags) & SIGNAL_GROUP_EXIT)
		return WAIT_KILLED;
	return question_is_answered(tgid) || now > until_ns || !collector_lives(now) ||
			       calls_over(now) ?
		       WAIT_OVER :
		       WAIT_GOES_ON;
}

static long wait_round(u32 i, struct wait *w)
{
	u64 now = bpf_ktime_get_ns();

	w->end = wait_end(w->tgid, w->until_ns, now);
	if (w->end != WAIT_GOES_ON)
		return 1;
	if (now >= w->yield_ns)
		wait_yield(w, now);
	return 0;
}

static long wait_rounds(u32 i, struct wait *w)
{
	bpf_loop(WAIT_ROUNDS, wait_round, w, 0);
	return w->end != WAIT_GOES_ON;
}

static __noinline int wait_for_answer(u32 tgid, u64 sp)
{
	u64 begin = bpf_ktime_get_ns();
	struct wait w = {.until_ns = begin + cfg.wait_ns, .sp = sp, .tgid = tgid};

	bpf_loop(WAIT_LOOPS, wait_rounds, &w, 0);
	/*
	 * a process that was killed, or was still waiting when the recording ended, misses nothing
	 */
	if (!question_is_answered(tgid) && w.end != WAIT_KILLED && !calls_over(bpf_ktime_get_ns()))
		count(POV_COUNT_MISS(POV_MISS_WAIT));
	__sync_fetch_and_add(&counters[POV_COUNT_STAT(POV_STAT_WAIT_NS)],
			     bpf_ktime_get_ns() - begin);
	return 0;
}

/*
 * Reports a process that needs its own probes: the preloaded library could not get its plan from
 * the collector, or the process was forked by one with probes.
 */
static __always_inline void unreached_report(u64 id, u64 cookie)
{
	struct pov_caller r = {};
	u32 tgid = id >> 32;

	hdr_init(&r.hdr, POV_KIND_UNREACHED, sizeof(r), id, bpf_ktime_get_ns());
	r.hdr.flags = cookie;
	r.tgid = tgid;
	bpf_map_delete_elem(&preload_loaded, &tgid);
	question_ask(tgid, r.hdr.ts_ns);
	if (emit_control(&r, sizeof(r), true))
		question_drop(tgid, r.hdr.ts_ns);
}

/*
 * Reports, and does not wait. The function that finalises MPI waits for the answer (loader_wait),
 * because the library can be asked for the rank until then.
 */
__noinline int world_report(u32 done)
{
	u64 id = bpf_get_current_pid_tgid();
	struct pov_caller r = {};
	u32 tgid = id >> 32;

	hdr_init(&r.hdr, POV_KIND_INIT, sizeof(r), id, bpf_ktime_get_ns());
	r.hdr.flags = done ? POV_INIT_DONE : 0;
	r.tgid = tgid;
	if (done)
		bpf_map_update_elem(&asked, &tgid, &r.hdr.ts_ns, BPF_ANY);
	if (emit_control(&r, sizeof(r), true) && done)
		question_drop(tgid, r.hdr.ts_ns);
	return 0;
}

/*
 * Runs where a dynamic loader calls _dl_debug_state, or where the preloaded library waits. Nothing
 * that the process has mapped since its last wait has run yet.
 */
SEC("?uprobe.s")
int loader_wait(struct pt_regs *ctx)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	u64 now = bpf_ktime_get_ns(), cookie = bpf_get_attach_cookie(ctx);

	stay_on_own_stack(ctx);
	if (!is_target(tgid))
		return 0;
	if (!bpf_map_lookup_elem(&waiting, &tgid))
		bpf_map_update_elem(&waiting, &tgid, &now, BPF_ANY);
	if (cookie == POV_WAIT_FORKED || (cfg.preload && cookie == POV_WAIT_UNREACHED))
		unreached_report(bpf_get_current_pid_tgid(), cookie);
	/*
	 * before the collector's first sign of life, nothing is recorded; it will find this process
	 * running
	 */
	if (collector_ns && !question_is_answered(tgid))
		wait_for_answer(tgid, PT_REGS_SP(ctx));
	return 0;
}

static __always_inline bool path_is_known(const struct pov_path *r, u32 bytes)
{
	struct pov_path_key key = {.mnt_ns = r->mnt_ns, .bytes = bytes};
	u64 *looked_ns;

	if (bytes > POV_PATH_KEY_BYTES || r->path[0] != '/')
		return false;
	key.hash = pov_path_hash(r->path);
	looked_ns = bpf_map_lookup_elem(&paths, &key);
	return looked_ns && r->hdr.ts_ns < *looked_ns + PATH_KNOWN_NS;
}

/* Waits at a C library's execve(path, …) until the file has been inspected. */
SEC("?uprobe.s")
int exec_wait(struct pt_regs *ctx)
{
	u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
	const void *path = (const void *)PT_REGS_PARM1(ctx);
	struct pov_path *r;
	char byte;
	long len;

	stay_on_own_stack(ctx);
	if (!is_target(id >> 32) || !collector_lives(now) || calls_over(now) ||
	    bpf_copy_from_user(&byte, 1, path))
		return 0;
	r = bpf_ringbuf_reserve(&control, sizeof(*r), 0);
	if (!r) {
		count(POV_COUNT_MISS(POV_MISS_WAIT));
		return 0;
	}
	hdr_init(&r->hdr, POV_KIND_PATH, sizeof(*r), id, now);
	r->tgid = id >> 32;
	r->mnt_ns = BPF_CORE_READ(bpf_get_current_task_btf(), nsproxy, mnt_ns, ns.inum);
	__builtin_memset(r->path, 0, POV_PATH_KEY_BYTES);
	len = bpf_probe_read_user_str(r->path, sizeof(r->path), path);
	if (len <= 0 || path_is_known(r, len)) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		return 0;
	}
	question_ask(id >> 32, now);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	wait_for_answer(id >> 32, PT_REGS_SP(ctx));
	return 0;
}

/* Reads the pointers that a call hands over. Returns a hash of them. */
static __always_inline u64 handed_read(const struct pov_handover *how, const char *object,
				       struct pov_handed *r)
{
	u64 hash = how->cnt;

	for (u32 i = 0; i < POV_HANDED_MAX && i < how->cnt; i++) {
		if (bpf_copy_from_user(&r->function[i].addr, sizeof(u64),
				       object + how->member[i].offset))
			r->function[i].addr = 0;
		r->function[i].row = how->member[i].row;
		hash = (hash ^ r->function[i].addr ^ r->function[i].row) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

/*
 * Waits in a function that hands over others, before any of them can be called through that object.
 */
SEC("?uprobe.s")
int handover_wait(struct pt_regs *ctx)
{
	u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns(),
	    cookie = bpf_get_attach_cookie(ctx);
	const char *const args[] = {(void *)PT_REGS_PARM1(ctx), (void *)PT_REGS_PARM2(ctx)};
	struct handed_key key = {.tgid = id >> 32};
	const struct pov_handover *how;
	struct pov_handed *r;
	u32 one = 1;

	stay_on_own_stack(ctx);
	how = bpf_map_lookup_elem(&handovers, &cookie);
	if (!how || !is_target(id >> 32) || !collector_lives(now) || calls_over(now))
		return 0;
	r = bpf_ringbuf_reserve(&control, sizeof(*r), 0);
	if (!r) {
		count(POV_COUNT_MISS(POV_MISS_WAIT));
		return 0;
	}
	r->tgid = id >> 32;
	r->cnt = how->cnt;
	key.hash = handed_read(how, args[how->arg & 1], r);
	now = bpf_ktime_get_ns();
	hdr_init(&r->hdr, POV_KIND_HANDED, sizeof(*r), id, now);
	if (bpf_map_lookup_elem(&handed, &key)) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
	} else {
		question_ask(id >> 32, now);
		bpf_map_update_elem(&handed, &key, &one, BPF_ANY);
		bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	}
	/* another thread may have asked the same, and be waiting */
	if (!question_is_answered(id >> 32))
		wait_for_answer(id >> 32, PT_REGS_SP(ctx));
	return 0;
}

/* ---- mappings ---- */

static __always_inline int on_map(struct vm_area_struct *vma)
{
	u64 id = bpf_get_current_pid_tgid();
	struct file *file = BPF_CORE_READ(vma, vm_file);
	struct pov_file_key key = {};
	struct pov_image r = {};
	u32 tgid = id >> 32;
	struct inode *inode;
	u32 *state, one = 1;

	if (!file || !(BPF_CORE_READ(vma, vm_flags) & VM_EXEC))
		return 0;
	inode = BPF_CORE_READ(file, f_inode);
	key.ino = BPF_CORE_READ(inode, i_ino);
	key.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	key.stamp = file_stamp(inode);
	hdr_init(&r.hdr, POV_KIND_IMAGE, sizeof(r), id, bpf_ktime_get_ns());
	r.tgid = tgid;
	r.dev = key.dev;
	r.ino = key.ino;
	r.stamp = key.stamp;
	r.start = BPF_CORE_READ(vma, vm_start);
	r.len = BPF_CORE_READ(vma, vm_end) - r.start;
	r.off = BPF_CORE_READ(vma, vm_pgoff) << PAGE_SHIFT;
	state = bpf_map_lookup_elem(&files, &key);
	if (!state || *state == POV_FILE_EACH) {
		r.hdr.flags |= POV_IMAGE_NEW;
		question_ask(tgid, r.hdr.ts_ns);
	} else if (*state == POV_FILE_PRELOAD) {
		bpf_map_update_elem(&preload_loaded, &tgid, &one, BPF_ANY);
	}
	if (emit_control(&r, sizeof(r), r.hdr.flags) && r.hdr.flags)
		question_drop(tgid, r.hdr.ts_ns);
	return 0;
}

static __always_inline int on_any_map(struct vm_area_struct *vma)
{
	return is_target(bpf_get_current_pid_tgid() >> 32) ? on_map(vma) : 0;
}

/*
 * Probes that see code mappings; the collector loads one that the kernel allows. The first choice
 * is fentry or a kprobe on the function that every new mapping passes, even exec's. Else it is the
 * tracepoint where the mapping is stored into its process's tree. A return probe on mmap would do,
 * too, but that doubles its cost, as return probes are system calls since 6.11.
 */
SEC("?fentry/perf_event_mmap")
int BPF_PROG(image_fentry, struct vm_area_struct *vma)
{
	return on_any_map(vma);
}

SEC("?kprobe/perf_event_mmap")
int BPF_KPROBE(image_kprobe, struct vm_area_struct *vma)
{
	return on_any_map(vma);
}

SEC("?tp_btf/ma_write")
int BPF_PROG(image_tree, const char *fn, struct ma_state *mas, unsigned long piv, void *val)
{
	struct task_struct *self = (struct task_struct *)bpf_get_current_task();
	struct mm_struct *mm;

	if (!val || !is_target(bpf_get_current_pid_tgid() >> 32))
		return 0;
	mm = BPF_CORE_READ(self, mm);
	if (!mm || BPF_CORE_READ(mas, tree) != &mm->mm_mt)
		return 0;
	return on_map(val);
}

/* ---- processes ---- */

__noinline int image_fork(u32 parent, u32 child)
{
	u64 *since = bpf_map_lookup_elem(&waiting, &parent), now;
	u32 one = 1;

	if (since) {
		now = *since;
		bpf_map_update_elem(&waiting, &child, &now, BPF_ANY);
	}
	if (bpf_map_lookup_elem(&preload_loaded, &parent))
		bpf_map_update_elem(&preload_loaded, &child, &one, BPF_ANY);
	return 0;
}

/*
 * The thread that survives an exec keeps its state, with a copy of the bindings; this makes the
 * copy stale.
 */
static __always_inline void bindings_forget(u32 tgid)
{
	if (!bpf_map_delete_elem(&process_bindings, &tgid))
		__sync_fetch_and_add(&bindings_changes, 1);
}

__noinline int image_exec(u32 tgid)
{
	bpf_map_delete_elem(&preload_loaded, &tgid);
	bindings_forget(tgid);
	return bpf_map_delete_elem(&waiting, &tgid);
}

__noinline int image_exit(u32 tgid)
{
	bpf_map_delete_elem(&waiting, &tgid);
	bpf_map_delete_elem(&preload_loaded, &tgid);
	bpf_map_delete_elem(&process_bindings, &tgid);
	bpf_map_delete_elem(&asked, &tgid);
	bpf_map_delete_elem(&answered, &tgid);
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
