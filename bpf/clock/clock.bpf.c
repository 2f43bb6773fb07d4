// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The kernel half of `povtrace clock` (Nigay et al. 2020, listings 2 and 3). At each switch, it
 * adds the run time of the leaving thread to the page of that thread's process, and notes the start
 * of the next thread's run in the page of the next one's process. A process has a slot, the number
 * of its pages. Its threads find the slot in their task storage. Each CPU remembers the slot of its
 * current thread, so that a switch takes one look-up and one reading of the clock. The clock is
 * read after `begun` has changed. So a reader that has not seen the change has an earlier time, and
 * its sum never goes back.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi/clock.h"

#define NEWS_BYTES (256 << 10)
#define STATE_MASK 0xff
#define STATE_DEAD 0x80
/*
 * If a stint differs from the scheduler's count by more than this, the scheduler's count is used
 * (stint_settle). Smaller differences are normal: after an idle time, the scheduler counts from the
 * time when the CPU woke, some us earlier.
 */
#define STINT_FAR_NS 500000

struct process_page {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct pov_clock_process));
};

struct section_page {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct pov_clock_section));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, POV_CLOCK_SLOTS);
	__type(key, u32);
	__array(values, struct process_page);
} pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, POV_CLOCK_SLOTS);
	__type(key, u32);
	__array(values, struct section_page);
} sections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, POV_CLOCK_SLOTS);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
} groups SEC(".maps"); /* arrays of struct pov_clock_core, one per CPU; made by the server */

/* Slots whose pages are ready, for future processes. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, POV_CLOCK_SLOTS);
	__type(value, u32);
} ready SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, NEWS_BYTES);
} news SEC(".maps");

struct clock_task {
	u32 taken;		/* non-zero: this struct has been or is being filled in */
	u32 slot;		/* slot + 1; 0: none yet */
	u32 place;		/* index in the process's page; POV_CLOCK_THREADS: none was free */
	pov_u64 runnable_since; /* used by a thread without a place */
	/*
	 * Its time on a CPU when it last got one, by the scheduler and by its place. 0: it has not
	 * had one yet.
	 */
	u64 exec, sum;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct clock_task);
} tasks SEC(".maps");

/* The thread on this CPU, by the last switch seen there. */
struct here {
	u64 task;  /* address of its task; 0: no switch has been seen */
	u64 since; /* when it got this CPU; 0: it has no slot, or had none then */
	u32 slot;
	u32 place;
	u32 tgid;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct here);
} cpus SEC(".maps");

/* Arguments and result of the iterator clock_adopt. */
__u32 adopt_tgid, adopt_slot, adopted;
/*
 * Counters: processes that got no slot; missed switches of threads with a slot; stints corrected to
 * the scheduler's count.
 */
__u64 without_slot, missed, settled;
/*
 * Histogram of the work at a switch in ns; the last bucket holds longer ones. Filled only if timed.
 */
const volatile bool timed;
__u64 cost[POV_CLOCK_WORKS][POV_CLOCK_COSTS];

static __always_inline struct pov_clock_process *page_of(u32 slot)
{
	void *inner = bpf_map_lookup_elem(&pages, &slot);
	u32 zero = 0;

	return inner ? bpf_map_lookup_elem(inner, &zero) : NULL;
}

static __always_inline struct pov_clock_thread *place_of(struct pov_clock_process *p, u32 place)
{
	if (place >= POV_CLOCK_THREADS)
		return NULL;
	asm volatile("" : "+r"(place)); /* keeps the bound where the verifier sees it */
	return &p->thread[place & (POV_CLOCK_THREADS - 1)];
}

static __always_inline void news_send(u32 kind, u32 slot, u32 tgid)
{
	struct pov_clock_news n = {.kind = kind, .slot = slot, .tgid = tgid};

	bpf_ringbuf_output(&news, &n, sizeof(n), 0);
}

/* ---- sections ---- */

static __always_inline struct pov_clock_section *section_of(const struct pov_clock_process *p,
							    u32 slot)
{
	void *inner = p->sections ? bpf_map_lookup_elem(&sections, &slot) : NULL;
	u32 zero = 0;

	return inner ? bpf_map_lookup_elem(inner, &zero) : NULL;
}

static __always_inline u64 section_now(const struct pov_clock_process *p, u32 slot, u64 now)
{
	struct pov_clock_section *s = section_of(p, slot);

	return s ? pov_clock_section_at(s->word, now) : 0;
}

/*
 * Adds the thread's time in sections. The process writes its section's page itself, so it can claim
 * too much time, but not more than it has run.
 */
static __always_inline void section_add(const struct pov_clock_process *p,
					const struct pov_clock_thread *place,
					const struct here *from, u64 now)
{
	u32 group = p->group, cpu = bpf_get_smp_processor_id();
	struct pov_clock_core *c;
	void *inner;
	u64 ns;

	if (!p->sections)
		return;
	ns = pov_clock_section_since(place->section_in, section_now(p, from->slot, now));
	if (ns > now - from->since)
		ns = now - from->since;
	inner = bpf_map_lookup_elem(&groups, &group);
	c = inner ? bpf_map_lookup_elem(inner, &cpu) : NULL;
	if (c)
		c->sum += ns; /* only this CPU writes to it */
}

/* ---- one thread leaves its CPU, another one gets it ---- */

static __always_inline void thread_leave(struct pov_clock_process *p, const struct here *from,
					 struct task_struct *task, u64 now, bool runnable)
{
	struct pov_clock_thread *place = place_of(p, from->place);
	struct clock_task *t;

	if (place) {
		section_add(p, place, from, now);
		place->sum += now;
		place->runnable_since = runnable ? now : 0;
	} else {
		t = task ? bpf_task_storage_get(&tasks, task, NULL, 0) : NULL;
		if (t)
			t->runnable_since = runnable ? now : 0;
	}
	if (runnable)
		__sync_fetch_and_add(&p->preempted, 1);
}

/*
 * If the last stint differs much from the scheduler's count, that count is used. Some kernels run
 * no BPF program at switches to and from some of their threads. A hypervisor or interrupts may also
 * have had the CPU. The sum may go back by that amount.
 */
static __always_inline void stint_settle(struct pov_clock_process *p, struct clock_task *t,
					 struct pov_clock_thread *place, u64 exec)
{
	s64 more = exec - t->exec - (place->sum - t->sum);

	if (t->exec && (s64)place->sum >= 0 && (more > STINT_FAR_NS || more < -STINT_FAR_NS)) {
		__sync_fetch_and_add(&p->begun, POV_CLOCK_CHANGE);
		__sync_fetch_and_add(&p->sum, more);
		__sync_fetch_and_add(&p->ended, POV_CLOCK_CHANGE);
		place->sum += more;
		__sync_fetch_and_add(&settled, 1);
	}
	t->exec = exec;
	t->sum = place->sum;
}

static __always_inline void thread_come(struct pov_clock_process *p, struct clock_task *t,
					struct task_struct *task, struct here *here, u64 now,
					u64 back)
{
	struct pov_clock_thread *place = place_of(p, t->place);
	pov_u64 *waits = place ? &place->runnable_since : &t->runnable_since;
	u32 cpu = bpf_get_smp_processor_id();

	here->since = now;
	here->slot = t->slot - 1;
	here->place = t->place;
	here->tgid = p->tgid;
	if (*waits)
		__sync_fetch_and_add(&p->runnable, now - *waits);
	*waits = 0;
	if (!place)
		return;
	if (place->cpu != cpu && place->sum)
		__sync_fetch_and_add(&p->migrations, 1);
	stint_settle(p, t, place, task->se.sum_exec_runtime - back);
	place->cpu = cpu;
	place->section_in = section_now(p, here->slot, now);
	place->sum -= now;
}

/* Handles a thread that will not run again. The last thread of a process gives up the slot. */
static __always_inline void thread_end(struct task_struct *task)
{
	struct clock_task *t = bpf_task_storage_get(&tasks, task, NULL, 0);
	struct pov_clock_process *p = t && t->slot ? page_of(t->slot - 1) : NULL;
	struct pov_clock_thread *place = p ? place_of(p, t->place) : NULL;

	if (!p)
		return;
	if (place) {
		stint_settle(p, t, place, task->se.sum_exec_runtime);
		place->tid = 0;
	}
	if (__sync_fetch_and_add(&p->threads, -1) == 1)
		news_send(POV_CLOCK_LEFT, t->slot - 1, p->tgid);
}

/*
 * Updates the sums of both processes, where present; those of threads follow. The switch was `back`
 * ns ago.
 */
static __always_inline u64 processes_switch(const struct here *here, struct pov_clock_process *from,
					    struct pov_clock_process *to, u64 back)
{
	u64 now;

	if (from)
		__sync_fetch_and_add(&from->begun, POV_CLOCK_CHANGE - 1);
	if (to)
		__sync_fetch_and_add(&to->begun, POV_CLOCK_CHANGE + 1);
	now = bpf_ktime_get_ns();
	if (back && here->since)
		back = now - here->since < back ? now - here->since : back;
	now -= back;
	if (from) {
		__sync_fetch_and_add(&from->sum, now);
		__sync_fetch_and_add(&from->ended, POV_CLOCK_CHANGE);
	}
	if (to) {
		__sync_fetch_and_add(&to->sum, -now);
		__sync_fetch_and_add(&to->ended, POV_CLOCK_CHANGE);
	}
	return now;
}

enum { CHANGED_NONE, CHANGED_ONE, CHANGED_SAME };

/*
 * Switches from the thread in `here` to another one, whose clock_task is t or NULL. Either may have
 * no slot.
 */
static __always_inline int switch_do(struct here *here, struct pov_clock_process *from,
				     struct task_struct *prev, struct pov_clock_process *to,
				     struct clock_task *t, struct task_struct *next, bool runnable,
				     u64 back)
{
	bool same = from && to && here->slot == t->slot - 1; /* the process keeps running */
	u32 any = from ? 1 : to ? 1 : 0;
	u64 now = 0;

	/*
	 * the verifier loses track of pointers that the compiler turns into flags, or combines into
	 * one
	 */
	asm volatile("" : "+r"(any));
	if (any)
		now = same ? bpf_ktime_get_ns() : processes_switch(here, from, to, back);
	asm volatile("" : "+r"(from), "+r"(to));
	if (from)
		thread_leave(from, here, prev, now, runnable);
	here->since = 0;
	if (to)
		thread_come(to, t, next, here, now, back);
	return same ? CHANGED_SAME : any ? CHANGED_ONE : CHANGED_NONE;
}

static __always_inline struct pov_clock_process *here_page(const struct here *here)
{
	return here->since ? page_of(here->slot) : NULL;
}

/*
 * Makes up for the missed switch to prev, at the time that the scheduler gives. The thread in
 * `here` left at that time at the latest; it counts only if its slot still belongs to the same
 * process.
 */
static __noinline void switch_missed(struct here *here, struct task_struct *prev)
{
	struct clock_task *t = bpf_task_storage_get(&tasks, prev, NULL, 0);
	struct pov_clock_process *to = t && t->slot ? page_of(t->slot - 1) : NULL;
	struct pov_clock_process *from = here_page(here);
	u64 arrival = BPF_CORE_READ(prev, sched_info.last_arrival);
	u64 latest = BPF_CORE_READ(prev, se.exec_start);

	if (from && from->tgid != here->tgid)
		from = NULL;
	if (switch_do(here, from, NULL, to, t, prev, false,
		      latest > arrival ? latest - arrival : 0))
		__sync_fetch_and_add(&missed, 1);
}

static __always_inline void work_done(u64 begin, const struct pov_clock_process *from,
				      const struct pov_clock_process *to, int changed)
{
	u32 work = changed == CHANGED_SAME ? POV_CLOCK_WORK_SAME :
		   !to			   ? POV_CLOCK_WORK_SUSPEND :
		   !from		   ? POV_CLOCK_WORK_RESUME :
					     POV_CLOCK_WORK_BOTH;
	u64 ns;

	if (!timed || !changed)
		return;
	ns = bpf_ktime_get_ns() - begin;
	if ((from && from->sections) || (to && to->sections))
		work += POV_CLOCK_WORK_SECTION;
	__sync_fetch_and_add(&cost[work][ns < POV_CLOCK_COSTS ? ns : POV_CLOCK_COSTS - 1], 1);
}

/* Measures the cost of an empty measurement. */
static __always_inline u64 work_begin(void)
{
	u64 begin, ns;

	if (!timed)
		return 0;
	begin = bpf_ktime_get_ns();
	ns = bpf_ktime_get_ns() - begin;
	__sync_fetch_and_add(
		&cost[POV_CLOCK_WORK_NONE][ns < POV_CLOCK_COSTS ? ns : POV_CLOCK_COSTS - 1], 1);
	return bpf_ktime_get_ns();
}

static __always_inline int on_switch(bool preempt, struct task_struct *prev,
				     struct task_struct *next, u32 state)
{
	u64 begin = work_begin();
	u32 zero = 0;
	struct here *here = bpf_map_lookup_elem(&cpus, &zero);
	struct clock_task *t = bpf_task_storage_get(&tasks, next, NULL, 0);
	struct pov_clock_process *to = t && t->slot ? page_of(t->slot - 1) : NULL, *from;
	int changed;

	if (!here)
		return 0;
	if (here->task && here->task != (u64)prev)
		switch_missed(here, prev);
	from = here_page(here);
	changed = switch_do(here, from, prev, to, t, next, preempt || !(state & STATE_MASK), 0);
	here->task = (u64)next;
	work_done(begin, from, to, changed);
	if (state & STATE_DEAD)
		thread_end(prev);
	return 0;
}

/*
 * The tracepoint has had the argument prev_state since 5.18; the server loads the program that
 * fits.
 */
SEC("?tp_btf/sched_switch")
int BPF_PROG(clock_switch_state, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return on_switch(preempt, prev, next, prev_state);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(clock_switch_plain, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return on_switch(preempt, prev, next, BPF_CORE_READ(prev, __state));
}

/*
 * Notes the start of a wait for a CPU. The kernel also reports wake-ups of threads that have a CPU:
 * ignored.
 */
static __always_inline int on_wakeup(struct task_struct *task)
{
	struct clock_task *t = bpf_task_storage_get(&tasks, task, NULL, 0);
	struct pov_clock_process *p = t && t->slot ? page_of(t->slot - 1) : NULL;
	struct pov_clock_thread *place = p ? place_of(p, t->place) : NULL;
	pov_u64 *waits = place ? &place->runnable_since : t ? &t->runnable_since : NULL;

	if (!p || !waits || *waits || (place ? (s64)place->sum < 0 : task->on_cpu))
		return 0;
	*waits = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(clock_wakeup, struct task_struct *p)
{
	return on_wakeup(p);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(clock_wakeup_new, struct task_struct *p)
{
	return on_wakeup(p);
}

/* ---- slots ---- */

static __always_inline u32 place_take(struct pov_clock_process *p, u32 tid, u64 sum)
{
	u32 i, at;

	for (i = 0; i < POV_CLOCK_PROBES; i++) {
		at = (tid + i) & (POV_CLOCK_THREADS - 1);
		if (__sync_val_compare_and_swap(&p->thread[at].tid, 0, tid))
			continue;
		p->thread[at].sum = sum;
		p->thread[at].runnable_since = 0;
		p->thread[at].section_in = 0;
		return at;
	}
	return POV_CLOCK_THREADS;
}

/* A thread's id in its own namespace. */
static __always_inline u32 own_tid(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	u32 level = BPF_CORE_READ(pid, level);
	int nr = 0;

	bpf_probe_read_kernel(&nr, sizeof(nr),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      level * bpf_core_type_size(struct upid) +
				      bpf_core_field_offset(struct upid, nr));
	return (u32)nr;
}

/* Gives a thread its process's slot. Its time counts from when it next gets a CPU. */
static __always_inline bool task_slot(struct task_struct *task, u32 slot)
{
	struct pov_clock_process *p = page_of(slot);
	struct clock_task *t;

	if (!p)
		return false;
	t = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t || __sync_val_compare_and_swap(&t->taken, 0, 1))
		return false;
	__sync_fetch_and_add(&p->threads, 1);
	t->place = place_take(p, own_tid(task), 0);
	__sync_val_compare_and_swap(&t->slot, 0, slot + 1);
	return true;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(clock_fork, struct task_struct *parent, struct task_struct *child)
{
	struct clock_task *t = bpf_task_storage_get(&tasks, parent, NULL, 0);
	u32 tgid = BPF_CORE_READ(child, tgid), slot;
	struct pov_clock_process *p;

	if (!t || !t->slot)
		return 0;
	if (tgid == (u32)BPF_CORE_READ(parent, tgid)) {
		task_slot(child, t->slot - 1);
		return 0;
	}
	if (bpf_map_pop_elem(&ready, &slot)) {
		__sync_fetch_and_add(&without_slot, 1);
		news_send(POV_CLOCK_FULL, 0, tgid);
		return 0;
	}
	p = page_of(slot);
	if (p)
		p->tgid = tgid;
	news_send(POV_CLOCK_JOINED, slot, tgid);
	if (!task_slot(child, slot)) {
		__sync_fetch_and_add(&without_slot, 1);
		news_send(POV_CLOCK_LEFT, slot, tgid);
	}
	return 0;
}

/* Ends a section that the program before an exec had begun. */
static __always_inline void section_end(const struct pov_clock_process *p, u32 slot)
{
	struct pov_clock_section *s = section_of(p, slot);

	if (s && s->word & 1)
		s->word = pov_clock_section_at(s->word, bpf_ktime_get_ns()) << 1;
}

/* If another thread than the first one calls exec, it takes over the first one's id. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(clock_exec, struct task_struct *task, pid_t old_tid)
{
	struct clock_task *t = bpf_task_storage_get(&tasks, task, NULL, 0);
	struct pov_clock_process *p = t && t->slot ? page_of(t->slot - 1) : NULL;
	u32 zero = 0;
	struct here *here = bpf_map_lookup_elem(&cpus, &zero);
	struct pov_clock_thread *old;

	if (!p || !here)
		return 0;
	section_end(p, t->slot - 1);
	old = old_tid != BPF_CORE_READ(task, pid) ? place_of(p, t->place) : NULL;
	if (!old)
		return 0;
	old->tid = 0;
	t->place = place_take(p, own_tid(task), old->sum);
	if (here->task == (u64)task)
		here->place = t->place;
	return 0;
}

/* ---- orders from the server ---- */

/* Only the kernel half can write to pages: they are frozen before anyone gets them. */
SEC("syscall")
int clock_alive(struct pov_clock_order *o)
{
	u32 from = o->slot, cnt = o->cnt, i, slot;
	struct pov_clock_process *p;
	u64 now = o->alive_ns;

	for (i = 0; i < POV_CLOCK_ORDER_SLOTS; i++) {
		if (i >= cnt)
			break;
		slot = from + i;
		p = page_of(slot);
		if (p)
			p->alive_ns = now;
	}
	return 0;
}

SEC("syscall")
int clock_section(struct pov_clock_order *o)
{
	u32 slot = o->slot, group = o->group;
	struct pov_clock_process *p = page_of(slot);

	if (!p)
		return -1;
	p->group = group;
	p->sections = 1;
	return 0;
}

/* Gives a slot to the threads of a process that is already running. */
SEC("iter/task")
int clock_adopt(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct pov_clock_process *p;

	if (!task || (u32)BPF_CORE_READ(task, tgid) != adopt_tgid)
		return 0;
	/* a thread that only waits for its parent to notice its end leaves no CPU any more */
	if (BPF_CORE_READ(task, exit_state) || !task_slot(task, adopt_slot))
		return 0;
	adopted++;
	p = page_of(adopt_slot);
	if (p)
		p->tgid = adopt_tgid;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
