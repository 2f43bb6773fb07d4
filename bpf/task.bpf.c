// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Identity of tasks. Follows targets through fork and exec. Records names, exits, fatal signals and
 * CPU masks. The code that they map is handled in image.bpf.c.
 */
#include "core.bpf.h"

#define SIGNAL_GROUP_EXIT 0x4 /* signal_struct.flags: group_exit_code is the process's status */

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
	u32 alive = POV_TARGET_ALIVE;
	bool target = is_target(ptgid);
	struct pov_fork r = {};

	if (target && ctgid != ptgid && !cfg.all)
		bpf_map_update_elem(&targets, &ctgid, &alive, BPF_ANY);
	if (target && ctgid != ptgid)
		image_fork(ptgid, ctgid);
	if (!target && cfg.sched_mode != POV_SCHED_ALL)
		return 0;
	hdr_init(&r.hdr, POV_KIND_FORK, sizeof(r), BPF_CORE_READ(parent, pid), bpf_ktime_get_ns());
	r.child_tid = BPF_CORE_READ(child, pid);
	r.child_tgid = ctgid;
	r.parent_tgid = ptgid;
	BPF_CORE_READ_STR_INTO(&r.comm, child, comm);
	/* a new process gets probes of its own, as soon as possible */
	emit_control(&r, sizeof(r), target && ctgid != ptgid);
	if (target)
		mask_check(child);
	return 0;
}

/*
 * Ends a thread's open calls and spins, because it is about to vanish or to become another program.
 * tid is the id under which it made its calls. If the recording has already ended, the calls get
 * the flag OPEN and end with the recording.
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
	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		d = t->depth - 1;
		if (d >= POV_CALL_DEPTH_MAX)
			break;
		t->depth = d;
		frame_emit(t, d, now, 0, flag);
	}
	spin_flush(t, 0, ALL_TIMES);
	counted_flush(t);
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
	emit_control(&r, sizeof(r), false);
	if (is_target(r.tgid)) {
		image_exec(r.tgid);
		mask_check(p);
	}
	return 0;
}

/*
 * Returns false if the kernel keeps no such account (CONFIG_TASK_XACCT) or there is nothing to
 * report.
 */
static __always_inline bool written_fill(struct pov_written *r, struct task_struct *p)
{
	if (!bpf_core_field_exists(p->ioac.wchar))
		return false;
	hdr_init(&r->hdr, POV_KIND_WRITTEN, sizeof(*r), BPF_CORE_READ(p, pid), bpf_ktime_get_ns());
	r->tgid = BPF_CORE_READ(p, tgid);
	r->bytes = BPF_CORE_READ(p, ioac.wchar);
	r->calls = BPF_CORE_READ(p, ioac.syscw);
	return r->calls || r->hdr.tid == r->tgid;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *p)
{
	u32 tid = BPF_CORE_READ(p, pid), tgid = BPF_CORE_READ(p, tgid), ending = POV_TARGET_ENDING;
	struct signal_struct *signal = BPF_CORE_READ(p, signal);
	struct pov_written written = {};
	struct pov_exit r = {};

	thread_close(p, tid, POV_CALL_OPEN);
	if (!identity_wanted(tgid))
		return 0;
	if (is_target(tgid) && written_fill(&written, p))
		emit_control(&written, sizeof(written), false);
	hdr_init(&r.hdr, POV_KIND_EXIT, sizeof(r), tid, bpf_ktime_get_ns());
	r.tgid = tgid;
	r.code = BPF_CORE_READ(p, exit_code);
	if (BPF_CORE_READ(signal, flags) & SIGNAL_GROUP_EXIT) {
		r.code = BPF_CORE_READ(signal, group_exit_code);
		r.hdr.flags |= POV_EXIT_PROCESS;
	}
	if (BPF_CORE_READ(signal, oom_mm))
		r.hdr.flags |= POV_EXIT_OOM;
	/*
	 * before the record: when the collector gets it, it looks here whether the process has
	 * ended
	 */
	if (!BPF_CORE_READ(signal, live.counter)) {
		bpf_map_update_elem(&targets, &tgid, &ending, BPF_EXIST);
		image_exit(tgid);
	}
	emit_control(&r, sizeof(r), false);
	return 0;
}

/*
 * A process stays a target until its threads have left their CPUs for the last time, after their
 * exit. Its first thread is freed last. By then, its number may belong to another process.
 */
SEC("tp_btf/sched_process_free")
int BPF_PROG(process_free, struct task_struct *p)
{
	u32 tgid = BPF_CORE_READ(p, tgid), *state;

	if ((u32)BPF_CORE_READ(p, pid) != tgid)
		return 0;
	state = bpf_map_lookup_elem(&targets, &tgid);
	if (state && *state == POV_TARGET_ENDING)
		bpf_map_delete_elem(&targets, &tgid);
	return 0;
}

#define SIGNALS_MAX 64
#define SIGNAL_BIT(signo) (1ull << ((signo)-1))
/* Signal numbers, which x86-64 and arm64 share. */
#define SIGNALS_HARMLESS                                                                      \
	(SIGNAL_BIT(17) | SIGNAL_BIT(18) | SIGNAL_BIT(19) | SIGNAL_BIT(20) | SIGNAL_BIT(21) | \
	 SIGNAL_BIT(22) | SIGNAL_BIT(23) |                                                    \
	 SIGNAL_BIT(28)) /* CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG, WINCH */
#define SIGNALS_TIMER (SIGNAL_BIT(14) | SIGNAL_BIT(26) | SIGNAL_BIT(27)) /* ALRM, VTALRM, PROF */
#define SIGNALS_FAULT                                                                     \
	(SIGNAL_BIT(4) | SIGNAL_BIT(5) | SIGNAL_BIT(7) | SIGNAL_BIT(8) | SIGNAL_BIT(11) | \
	 SIGNAL_BIT(31)) /* ILL, TRAP, BUS, FPE, SEGV, SYS */
#define SIGNALS_ADDRESS (SIGNAL_BIT(7) | SIGNAL_BIT(11))

/*
 * Two small values stand for a missing siginfo: the kernel sends the signal on behalf of the
 * current process (0), or of nobody (1).
 */
#define SIGNAL_HAS_INFO(info) ((u64)(info) > 1)
/* values of si_code */
#define CODE_USER 0
#define CODE_QUEUE (-1)
#define CODE_TKILL (-6)

/* True if the process has no handler for a signal, so that it dies of it. */
static __always_inline bool signal_kills(struct task_struct *p, u32 signo)
{
	struct sighand_struct *sighand = BPF_CORE_READ(p, sighand);
	u64 at = (u64)sighand + bpf_core_field_offset(sighand->action);
	void *handler = NULL;

	if (signo - 1 >= SIGNALS_MAX || SIGNAL_BIT(signo) & SIGNALS_HARMLESS)
		return false;
	at += (u64)(signo - 1) * bpf_core_type_size(struct k_sigaction);
	BPF_CORE_READ_INTO(&handler, (struct k_sigaction *)at, sa.sa_handler);
	return !handler;
}

static __always_inline u8 signal_from(u64 signo_bit, struct kernel_siginfo *info, s32 code,
				      bool self)
{
	if (!SIGNAL_HAS_INFO(info))
		return signo_bit & SIGNALS_TIMER ? POV_SIGNAL_FROM_OTHER : POV_SIGNAL_FROM_KERNEL;
	if (code == CODE_USER || code == CODE_QUEUE || code == CODE_TKILL)
		return POV_SIGNAL_FROM_PROCESS;
	if (code > 0 && signo_bit & SIGNALS_FAULT)
		return self ? POV_SIGNAL_FROM_FAULT : POV_SIGNAL_FROM_KERNEL;
	return POV_SIGNAL_FROM_OTHER;
}

/*
 * The last fault of a thread for which it has a handler. Many handlers report the fault and send
 * the process the same signal again.
 */
struct fault {
	u64 ip;
	u64 address;
	s32 code;
	u32 signo;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct fault);
} faults SEC(".maps");

static __always_inline void fault_fill(struct fault *f, int signo, struct kernel_siginfo *info,
				       struct task_struct *self)
{
	f->ip = PT_REGS_IP_CORE((struct pt_regs *)bpf_task_pt_regs(self));
	f->address = 0;
	if (SIGNAL_BIT(signo) & SIGNALS_ADDRESS)
		f->address = (u64)BPF_CORE_READ(info, _sifields._sigfault._addr);
	f->code = BPF_CORE_READ(info, si_code);
	f->signo = signo;
}

static __always_inline void signal_fault(struct pov_signal *r, const struct fault *f)
{
	r->from = POV_SIGNAL_FROM_FAULT;
	r->code = f->code;
	r->ip = f->ip;
	r->address = f->address;
}

/* Sets the origin of the signal in r. */
static __always_inline void signal_origin(struct pov_signal *r, struct kernel_siginfo *info,
					  struct task_struct *self, struct task_struct *p)
{
	struct fault now, *f;

	if (SIGNAL_HAS_INFO(info))
		r->code = BPF_CORE_READ(info, si_code);
	r->from = signal_from(SIGNAL_BIT(r->signo), info, r->code, self == p);
	if (r->from == POV_SIGNAL_FROM_FAULT) {
		fault_fill(&now, r->signo, info, self);
		signal_fault(r, &now);
		return;
	}
	if (r->from != POV_SIGNAL_FROM_PROCESS)
		return;
	f = bpf_task_storage_get(&faults, self, NULL, 0);
	if (f && f->signo == r->signo && r->tgid == (u32)BPF_CORE_READ(self, tgid)) {
		signal_fault(r, f);
		return;
	}
	r->sender = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(&r->comm, sizeof(r->comm));
}

/* Remembers a target thread's own fault, for which it has a handler. */
static __always_inline void fault_keep(u32 signo, struct kernel_siginfo *info,
				       struct task_struct *self, struct task_struct *p)
{
	struct fault *f;

	if (self != p || signo - 1 >= SIGNALS_MAX || !SIGNAL_HAS_INFO(info) ||
	    signal_from(SIGNAL_BIT(signo), info, BPF_CORE_READ(info, si_code), true) !=
		    POV_SIGNAL_FROM_FAULT)
		return;
	f = bpf_task_storage_get(&faults, self, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (f)
		fault_fill(f, signo, info, self);
}

/*
 * Finds the site of the outermost call of a thread that a signal kills. After the thread's exit, it
 * can no longer be found.
 */
static __always_inline void open_call_place(struct task_struct *p, u32 tid, bool self)
{
	struct pov_thread *t = thread_find(p, tid);

	if (!t || !t->depth)
		return;
	frame_site_find(t, 0, return_instances(p));
	if (self && bindings_exist())
		site_leave_bindings(t, 0);
}

SEC("tp_btf/signal_generate")
int BPF_PROG(signal_generate, int signo, struct kernel_siginfo *info, struct task_struct *p,
	     int group, int result)
{
	struct task_struct *self = bpf_get_current_task_btf();
	u32 tgid = BPF_CORE_READ(p, tgid);
	struct pov_signal r = {};

	/* result 0: the signal was delivered */
	if (result || !is_target(tgid))
		return 0;
	if (!signal_kills(p, signo)) {
		fault_keep(signo, info, self, p);
		return 0;
	}
	hdr_init(&r.hdr, POV_KIND_SIGNAL, sizeof(r), BPF_CORE_READ(p, pid), bpf_ktime_get_ns());
	r.hdr.flags = group ? POV_SIGNAL_TO_PROCESS : 0;
	r.tgid = tgid;
	r.signo = signo;
	signal_origin(&r, info, self, p);
	open_call_place(p, r.hdr.tid, self == p);
	emit_control(&r, sizeof(r), false);
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
	emit_control(&r, sizeof(r), false);
	return 0;
}

/* Writes every existing thread with its state, for the start of the recording. */
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

/* Writes how much targets' threads have written, for the start and end of the recording. */
SEC("iter/task")
int task_written(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct pov_written r = {};

	if (p && is_target(BPF_CORE_READ(p, tgid)) && written_fill(&r, p))
		bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}

#ifdef __TARGET_ARCH_x86
/* Writes the registers of targets' threads that are on no CPU, without stopping any. */
SEC("iter/task")
int task_regs(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct pov_regs r = {};

	if (!p)
		return 0;
	/* read before on_cpu, because the thread may begin to run at any moment */
	if (bpf_core_field_exists(p->sched_info.pcount))
		r.run_cnt = BPF_CORE_READ(p, sched_info.pcount);
	if (BPF_CORE_READ(p, on_cpu) || !is_target(BPF_CORE_READ(p, tgid)))
		return 0;
	r.tid = BPF_CORE_READ(p, pid);
	r.tgid = BPF_CORE_READ(p, tgid);
	regs_read(&r, (struct pt_regs *)bpf_task_pt_regs(p));
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}
#endif

/*
 * Writes the state of every thread with open calls, spins or counts, for the end of the recording.
 * An item that did not fit into the buffer is repeated.
 */
SEC("iter/task")
int thread_dump(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct pov_thread *t;
	u64 instances;
	u32 i;

	if (!p)
		return 0;
	t = thread_find(p, BPF_CORE_READ(p, pid));
	if (!t)
		return 0;
	/* without an end of the recording, this is for `povtrace dump`, and the thread goes on */
	if (!calls_until) {
		if (t->closed == POV_THREAD_ENDED)
			return 0;
	} else if (__sync_val_compare_and_swap(&t->closed, POV_THREAD_LIVE, POV_THREAD_DUMPED) ==
		   POV_THREAD_ENDED) {
		return 0;
	}
	if (!t->depth && !t->spinning && !t->counting_ns)
		return 0;
	instances = return_instances(p);
	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		if (i >= t->depth)
			break;
		frame_site_find(t, i, instances);
	}
	bpf_seq_write(ctx->meta->seq, t, sizeof(*t));
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
