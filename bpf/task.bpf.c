// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Who is who, and what code they map. Follows targets through fork and exec, tells names, exits and CPU
 * masks, and stops a target that maps code not looked at yet, until the collector has attached: that is how no
 * call is missed between mapping and attaching.
 */
#include "core.bpf.h"

#define SIGSTOP 19
#define SIGCONT 18
#define VM_EXEC 0x4
#define PAGE_SHIFT 12

/* Values of targets. */
enum target_state { TARGET_ALIVE = 1, TARGET_ENDING = 2 };

/* Files looked at by the collector: enum pov_file_state. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct pov_file_key);
	__type(value, u32);
} files SEC(".maps");

/*
 * Processes stopped for attaching: tgid → time. Written here, deleted by the collector when it lets them
 * go; its guard process reads it if the collector dies.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESSES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, u64);
} held SEC(".maps");

static __always_inline bool identity_wanted(u32 tgid)
{
	return cfg.sched_mode == POV_SCHED_ALL || is_target(tgid);
}

static __always_inline void task_fill(struct pov_task *r, struct task_struct *p, u8 kind)
{
	hdr_init(&r->hdr, kind, sizeof(*r), BPF_CORE_READ(p, pid), bpf_ktime_get_ns());
	r->tgid = BPF_CORE_READ(p, tgid);
	r->ppid = BPF_CORE_READ(p, real_parent, tgid);
	r->kthread = !BPF_CORE_READ(p, mm);
	r->start_ns = BPF_CORE_READ(p, start_time);
	BPF_CORE_READ_STR_INTO(&r->comm, p, comm);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 ptgid = BPF_CORE_READ(parent, tgid), ctgid = BPF_CORE_READ(child, tgid);
	u32 alive = TARGET_ALIVE;
	bool target = is_target(ptgid);
	struct pov_fork r = {};

	if (target && ctgid != ptgid && !cfg.all)
		bpf_map_update_elem(&targets, &ctgid, &alive, BPF_ANY);
	if (!target && cfg.sched_mode != POV_SCHED_ALL)
		return 0;
	hdr_init(&r.hdr, POV_KIND_FORK, sizeof(r), BPF_CORE_READ(parent, pid), bpf_ktime_get_ns());
	r.child_tid = BPF_CORE_READ(child, pid);
	r.child_tgid = ctgid;
	r.parent_tgid = ptgid;
	BPF_CORE_READ_STR_INTO(&r.comm, child, comm);
	emit_control(&r, sizeof(r));
	if (target)
		mask_check(child);
	return 0;
}

/*
 * Ends what a thread has open, because it is about to vanish or to become another program. tid is the number
 * under which it made its calls. Behind the recording's end it was open there.
 */
static __always_inline void thread_close(struct task_struct *p, u32 tid, u32 flag)
{
	struct pov_thread *t = thread_find(p, tid);
	u64 now = bpf_ktime_get_ns();
	u32 i, d;

	if (!t || __sync_val_compare_and_swap(&t->closed, POV_THREAD_LIVE, POV_THREAD_ENDED))
		return;
	if (calls_over(now)) {
		now = calls_until;
		flag = POV_CALL_OPEN;
	}
	spin_flush(t, 0);
	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		d = t->depth - 1;
		if (d >= POV_CALL_DEPTH_MAX)
			break;
		t->depth = d;
		frame_emit(t, d, now, 0, flag);
	}
	if (t == thread_slot(tid))
		t->tid = 0;
	else
		bpf_task_storage_delete(&threads, p);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *p, pid_t old_tid)
{
	struct pov_task r = {};

	thread_close(p, old_tid, POV_CALL_UNWOUND);
	if (!identity_wanted(BPF_CORE_READ(p, tgid)))
		return 0;
	task_fill(&r, p, POV_KIND_EXEC);
	emit_control(&r, sizeof(r));
	if (is_target(r.tgid))
		mask_check(p);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *p)
{
	u32 tid = BPF_CORE_READ(p, pid), tgid = BPF_CORE_READ(p, tgid), ending = TARGET_ENDING;
	struct pov_exit r = {};

	thread_close(p, tid, POV_CALL_OPEN);
	if (!identity_wanted(tgid))
		return 0;
	hdr_init(&r.hdr, POV_KIND_EXIT, sizeof(r), tid, bpf_ktime_get_ns());
	r.tgid = tgid;
	r.code = BPF_CORE_READ(p, exit_code);
	emit_control(&r, sizeof(r));
	if (!BPF_CORE_READ(p, signal, live.counter))
		bpf_map_update_elem(&targets, &tgid, &ending, BPF_EXIST);
	return 0;
}

/*
 * A process is a target until its threads have left their CPUs for the last time, which is after they have exited.
 * Its first thread is freed last of all; its number may be another process's by then.
 */
SEC("tp_btf/sched_process_free")
int BPF_PROG(process_free, struct task_struct *p)
{
	u32 tgid = BPF_CORE_READ(p, tgid), *state;

	if ((u32)BPF_CORE_READ(p, pid) != tgid)
		return 0;
	state = bpf_map_lookup_elem(&targets, &tgid);
	if (state && *state == TARGET_ENDING)
		bpf_map_delete_elem(&targets, &tgid);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *p, const char *name)
{
	struct pov_task r = {};

	if (!identity_wanted(BPF_CORE_READ(p, tgid)))
		return 0;
	task_fill(&r, p, POV_KIND_RENAME);
	bpf_probe_read_kernel_str(&r.comm, sizeof(r.comm), name);
	emit_control(&r, sizeof(r));
	return 0;
}

/*
 * Stops the current process (not only the thread) until the collector has looked. The time tells the
 * collector which of several holds is the last one: only that one's event lets the process go on.
 */
static __always_inline bool hold(u32 tgid, u64 now)
{
	bpf_map_update_elem(&held, &tgid, &now, BPF_ANY);
	if (bpf_send_signal(SIGSTOP)) {
		bpf_map_delete_elem(&held, &tgid);
		count(POV_COUNT_MISS(POV_MISS_SIGNAL));
		return false;
	}
	count(POV_COUNT_STAT(POV_STAT_HOLDS));
	return true;
}

/* Nobody will be told of the stop: takes it back. */
static __always_inline void unhold(u32 tgid)
{
	bpf_map_delete_elem(&held, &tgid);
	bpf_send_signal(SIGCONT);
	count(POV_COUNT_MISS(POV_MISS_SIGNAL));
}

/* Whether the process would notice that it was stopped: letting it go on sends SIGCONT. */
static __always_inline bool handles_sigcont(void)
{
	struct task_struct *self = (struct task_struct *)bpf_get_current_task();
	struct sighand_struct *sighand = BPF_CORE_READ(self, sighand);

	return sighand && (u64)BPF_CORE_READ(sighand, action[SIGCONT - 1].sa.sa_handler) > 1;
}

static __always_inline bool named_mpi(struct file *file)
{
	const unsigned char *name = BPF_CORE_READ(file, f_path.dentry, d_name.name);
	char s[32] = {};
	u32 i;

	bpf_probe_read_kernel_str(s, sizeof(s), name);
	for (i = 0; i < sizeof(s) - 2; i++)
		if ((s[i] | 0x20) == 'm' && (s[i + 1] | 0x20) == 'p' && (s[i + 2] | 0x20) == 'i')
			return true;
	return false;
}

/*
 * A process that handles SIGCONT (mpirun forwards it to its job) is stopped only for a file that looks
 * like MPI; whatever else it maps is looked at while it runs.
 */
static __always_inline bool hold_wanted(struct file *file, const u32 *state)
{
	if (!cfg.hold || (state && *state != POV_FILE_TRACED))
		return false;
	return !handles_sigcont() || (!state && named_mpi(file));
}

static __always_inline int on_map(struct vm_area_struct *vma)
{
	u64 id = bpf_get_current_pid_tgid();
	u32 tgid = id >> 32, *state;
	struct file *file = BPF_CORE_READ(vma, vm_file);
	struct pov_file_key key = {};
	struct pov_image r = {};

	if (!file || !(BPF_CORE_READ(vma, vm_flags) & VM_EXEC))
		return 0;
	key.ino = BPF_CORE_READ(file, f_inode, i_ino);
	key.dev = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	hdr_init(&r.hdr, POV_KIND_IMAGE, sizeof(r), id, bpf_ktime_get_ns());
	r.tgid = tgid;
	r.dev = key.dev;
	r.ino = key.ino;
	r.start = BPF_CORE_READ(vma, vm_start);
	r.len = BPF_CORE_READ(vma, vm_end) - r.start;
	r.off = BPF_CORE_READ(vma, vm_pgoff) << PAGE_SHIFT;
	state = bpf_map_lookup_elem(&files, &key);
	if (hold_wanted(file, state) && hold(tgid, r.hdr.ts_ns))
		r.hdr.flags |= POV_IMAGE_HELD;
	if (emit_control(&r, sizeof(r)) && r.hdr.flags)
		unhold(tgid);
	return 0;
}

static __always_inline int on_any_map(struct vm_area_struct *vma)
{
	return is_target(bpf_get_current_pid_tgid() >> 32) ? on_map(vma) : 0;
}

/*
 * Where code mappings are seen, by what the kernel allows: fentry or a kprobe on the function that every
 * new mapping goes through, exec's included; else where the mapping is stored into its process's tree. (The
 * exit of mmap would do as well, but return probes are system calls since 6.11: to trace those doubles
 * their cost.)
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

/* Every thread that exists, with its state, for the start of the recording. */
SEC("iter/task")
int task_snapshot(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct pov_task r = {};

	if (!p || !identity_wanted(BPF_CORE_READ(p, tgid)))
		return 0;
	task_fill(&r, p, POV_KIND_TASK);
	r.state = BPF_CORE_READ(p, __state);
	r.on_cpu = BPF_CORE_READ(p, on_cpu);
	r.cpu = task_cpu(p);
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}

/*
 * State of every thread that has calls or a spin open, for the end of the recording. An item that did not fit
 * into the buffer comes once more.
 */
SEC("iter/task")
int thread_dump(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct pov_thread *t;
	struct pov_frame *f;
	struct pov_call *c;
	u32 i;

	if (!p)
		return 0;
	t = thread_find(p, BPF_CORE_READ(p, pid));
	if (!t || __sync_val_compare_and_swap(&t->closed, POV_THREAD_LIVE, POV_THREAD_DUMPED) ==
			  POV_THREAD_ENDED)
		return 0;
	if (!t->depth && !((struct pov_spin *)t->spin)->nfuncs)
		return 0;
	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		if (i >= t->depth)
			break;
		f = frame_at(t, i);
		c = frame_call(f);
		if (!c->site)
			c->site = frame_site(p, f->sp);
	}
	bpf_seq_write(ctx->meta->seq, t, sizeof(*t));
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
