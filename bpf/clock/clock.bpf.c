// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The kernel half of `povtrace clock` (Nigay et al. 2020, listings 2 and 3): at each switch, what the thread that leaves
 * has run goes into its process's page, and the one that comes is noted there. A process has a seat, the number of its
 * pages; its threads know it by their task storage, which is all that a switch of others costs. Each time is taken after
 * `begun` has changed: a reader that has not seen the change has an earlier time, and so its sum never goes back.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi/clock.h"

#define NEWS_BYTES (256 << 10)
#define STATE_MASK 0xff

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
	__uint(max_entries, POV_CLOCK_SEATS);
	__type(key, u32);
	__array(values, struct process_page);
} pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, POV_CLOCK_SEATS);
	__type(key, u32);
	__array(values, struct section_page);
} sections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, POV_CLOCK_SEATS);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
} groups SEC(".maps"); /* of arrays of struct pov_clock_core, one for each CPU, says the server */

/* Seats with pages for processes to come. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, POV_CLOCK_SEATS);
	__type(value, u32);
} ready SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, NEWS_BYTES);
} news SEC(".maps");

struct clock_task {
	u32 seat;
	u32 place; /* in the process's page; POV_CLOCK_THREADS: none was free */
	u64 since; /* when it got its CPU; 0: it has none, or that was not seen */
	u64 runnable_since;
	bool ending;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct clock_task);
} tasks SEC(".maps");

/* Of the iterator below. */
__u32 adopt_tgid, adopt_seat, adopted;
/* Processes that got no seat; switches from a thread that were not seen, after which it seems to have run on. */
__u64 unseated, missed;
/* What the work at a switch took, in ns; the last for longer ones. Only with timed. */
const volatile bool timed;
__u64 cost[POV_CLOCK_COSTS];

static __always_inline struct pov_clock_process *page_of(u32 seat)
{
	void *inner = bpf_map_lookup_elem(&pages, &seat);
	u32 zero = 0;

	return inner ? bpf_map_lookup_elem(inner, &zero) : NULL;
}

static __always_inline struct pov_clock_thread *place_of(struct pov_clock_process *p,
							 const struct clock_task *t)
{
	u32 place = t->place;

	if (place >= POV_CLOCK_THREADS)
		return NULL;
	asm volatile("" : "+r"(place)); /* so that the bound stays where the verifier sees it */
	return &p->thread[place & (POV_CLOCK_THREADS - 1)];
}

static __always_inline void tell(u32 kind, u32 seat, u32 tgid)
{
	struct pov_clock_news n = {.kind = kind, .seat = seat, .tgid = tgid};

	bpf_ringbuf_output(&news, &n, sizeof(n), 0);
}

/* ---- sections ---- */

static __always_inline u64 section_now(const struct pov_clock_process *p, u32 seat, u64 now)
{
	struct pov_clock_section *s;
	void *inner;
	u32 zero = 0;

	if (!p->sections)
		return 0;
	inner = bpf_map_lookup_elem(&sections, &seat);
	s = inner ? bpf_map_lookup_elem(inner, &zero) : NULL;
	return s ? pov_clock_section_at(s->word, now) : 0;
}

/* The page is the process's to write: it can say too much, but no more than it has run. */
static __always_inline void section_add(const struct pov_clock_process *p,
					const struct pov_clock_thread *place,
					const struct clock_task *t, u64 now)
{
	u32 group = p->group, cpu = bpf_get_smp_processor_id();
	struct pov_clock_core *c;
	void *inner;
	u64 ns;

	if (!p->sections)
		return;
	ns = pov_clock_section_since(place->section_in, section_now(p, t->seat, now));
	if (ns > now - t->since)
		ns = now - t->since;
	inner = bpf_map_lookup_elem(&groups, &group);
	c = inner ? bpf_map_lookup_elem(inner, &cpu) : NULL;
	if (c)
		c->sum += ns; /* only this CPU writes there */
}

/* ---- a thread leaves its CPU, another one comes ---- */

static __always_inline void thread_leave(struct pov_clock_process *p, struct clock_task *t, u64 now,
					 bool runnable)
{
	struct pov_clock_thread *place = place_of(p, t);

	if (place) {
		section_add(p, place, t, now);
		place->sum += now;
		place->runnable_since = runnable ? now : 0;
	}
	t->since = 0;
	t->runnable_since = runnable ? now : 0;
	if (runnable)
		__sync_fetch_and_add(&p->preempted, 1);
}

static __always_inline void thread_come(struct pov_clock_process *p, struct clock_task *t, u64 now)
{
	struct pov_clock_thread *place = place_of(p, t);
	u32 cpu = bpf_get_smp_processor_id();

	if (t->runnable_since)
		__sync_fetch_and_add(&p->runnable, now - t->runnable_since);
	t->runnable_since = 0;
	t->since = now;
	if (!place)
		return;
	if (place->cpu != cpu && place->sum)
		__sync_fetch_and_add(&p->migrations, 1);
	place->cpu = cpu;
	place->runnable_since = 0;
	place->section_in = section_now(p, t->seat, now);
	place->sum -= now;
}

/* The last one to leave takes the seat with it. */
static __always_inline void thread_end(struct pov_clock_process *p, struct clock_task *t)
{
	struct pov_clock_thread *place = place_of(p, t);

	t->ending = false;
	if (place)
		place->tid = 0;
	if (__sync_fetch_and_add(&p->threads, -1) == 1)
		tell(POV_CLOCK_LEFT, t->seat, p->tgid);
}

static __always_inline void leave(struct clock_task *t, bool runnable)
{
	struct pov_clock_process *p = page_of(t->seat);
	u64 now;

	if (!p)
		return;
	if (t->since) {
		__sync_fetch_and_add(&p->begun, POV_CLOCK_CHANGE - 1);
		now = bpf_ktime_get_ns();
		__sync_fetch_and_add(&p->sum, now);
		__sync_fetch_and_add(&p->ended, POV_CLOCK_CHANGE);
		thread_leave(p, t, now, runnable);
	}
	if (t->ending)
		thread_end(p, t);
}

static __always_inline void come(struct clock_task *t)
{
	struct pov_clock_process *p = page_of(t->seat);
	u64 now;

	if (!p)
		return;
	if (t->since) {
		__sync_fetch_and_add(&missed, 1);
		return;
	}
	__sync_fetch_and_add(&p->begun, POV_CLOCK_CHANGE + 1);
	now = bpf_ktime_get_ns();
	__sync_fetch_and_add(&p->sum, -now);
	__sync_fetch_and_add(&p->ended, POV_CLOCK_CHANGE);
	thread_come(p, t, now);
}

/* Nothing changes for the process: a thread of its own goes on. */
static __always_inline void swap(struct clock_task *from, struct clock_task *to, bool runnable)
{
	struct pov_clock_process *p = page_of(from->seat);
	u64 now = bpf_ktime_get_ns();

	if (!p)
		return;
	thread_leave(p, from, now, runnable);
	thread_come(p, to, now);
}

static __always_inline int work_done(u64 begin)
{
	u64 ns;

	if (!timed)
		return 0;
	ns = bpf_ktime_get_ns() - begin;
	__sync_fetch_and_add(&cost[ns < POV_CLOCK_COSTS ? ns : POV_CLOCK_COSTS - 1], 1);
	return 0;
}

static __always_inline int on_switch(bool preempt, struct task_struct *prev,
				     struct task_struct *next, u32 state)
{
	u64 begin = timed ? bpf_ktime_get_ns() : 0;
	struct clock_task *from = bpf_task_storage_get(&tasks, prev, NULL, 0);
	struct clock_task *to = bpf_task_storage_get(&tasks, next, NULL, 0);
	bool runnable = preempt || !(state & STATE_MASK);

	if (from) {
		if (to && from->seat == to->seat && from->since && !to->since && !from->ending) {
			swap(from, to, runnable);
			return work_done(begin);
		}
		leave(from, runnable);
		if (!to)
			return work_done(begin);
	}
	if (!to)
		return 0;
	come(to);
	return work_done(begin);
}

/* The tracepoint got prev_state as an argument in 5.18; the server loads the one that fits. */
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

static __always_inline int on_wakeup(struct task_struct *p)
{
	struct clock_task *t = bpf_task_storage_get(&tasks, p, NULL, 0);
	struct pov_clock_process *page;
	struct pov_clock_thread *place;
	u64 now;

	if (!t || t->since || t->runnable_since)
		return 0;
	now = bpf_ktime_get_ns();
	t->runnable_since = now;
	page = page_of(t->seat);
	place = page ? place_of(page, t) : NULL;
	if (place)
		place->runnable_since = now;
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

/* ---- who has a seat ---- */

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

/* Gives a thread its process's seat. What it runs counts from when it next gets a CPU. */
static __always_inline bool task_seat(struct task_struct *task, u32 seat)
{
	struct pov_clock_process *p = page_of(seat);
	struct clock_task *t;

	if (!p || bpf_task_storage_get(&tasks, task, NULL, 0))
		return false;
	t = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		return false;
	t->place = place_take(p, BPF_CORE_READ(task, pid), 0);
	t->seat = seat;
	__sync_fetch_and_add(&p->threads, 1);
	return true;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(clock_fork, struct task_struct *parent, struct task_struct *child)
{
	struct clock_task *t = bpf_task_storage_get(&tasks, parent, NULL, 0);
	u32 tgid = BPF_CORE_READ(child, tgid), seat;
	struct pov_clock_process *p;

	if (!t)
		return 0;
	if (tgid == (u32)BPF_CORE_READ(parent, tgid)) {
		task_seat(child, t->seat);
		return 0;
	}
	if (bpf_map_pop_elem(&ready, &seat)) {
		__sync_fetch_and_add(&unseated, 1);
		tell(POV_CLOCK_FULL, 0, tgid);
		return 0;
	}
	p = page_of(seat);
	if (p)
		p->tgid = tgid;
	task_seat(child, seat);
	tell(POV_CLOCK_SEATED, seat, tgid);
	return 0;
}

/* A thread that was not the first becomes it, with that one's number. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(clock_exec, struct task_struct *task, pid_t old_tid)
{
	struct clock_task *t = bpf_task_storage_get(&tasks, task, NULL, 0);
	u32 tid = BPF_CORE_READ(task, pid);
	struct pov_clock_process *p;
	struct pov_clock_thread *old;

	p = t && (u32)old_tid != tid ? page_of(t->seat) : NULL;
	old = p ? place_of(p, t) : NULL;
	if (!old)
		return 0;
	old->tid = 0;
	t->place = place_take(p, tid, old->sum);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(clock_exit, struct task_struct *task)
{
	struct clock_task *t = bpf_task_storage_get(&tasks, task, NULL, 0);

	if (t)
		t->ending = true; /* it leaves its CPU once more */
	return 0;
}

/* ---- what the server has written ---- */

/* Nobody but the kernel half can write to pages: they are frozen before anybody gets them. */
SEC("syscall")
int clock_alive(struct pov_clock_order *o)
{
	u32 from = o->seat, cnt = o->cnt, i, seat;
	struct pov_clock_process *p;
	u64 now = o->alive_ns;

	for (i = 0; i < POV_CLOCK_ORDER_SEATS; i++) {
		if (i >= cnt)
			break;
		seat = from + i;
		p = page_of(seat);
		if (p)
			p->alive_ns = now;
	}
	return 0;
}

SEC("syscall")
int clock_section(struct pov_clock_order *o)
{
	u32 seat = o->seat, group = o->group;
	struct pov_clock_process *p = page_of(seat);

	if (!p)
		return -1;
	p->group = group;
	p->sections = 1;
	return 0;
}

/* Threads of a process that runs already. */
SEC("iter/task")
int clock_adopt(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	struct pov_clock_process *p;

	if (!task || (u32)BPF_CORE_READ(task, tgid) != adopt_tgid || !task_seat(task, adopt_seat))
		return 0;
	adopted++;
	p = page_of(adopt_seat);
	if (p)
		p->tgid = adopt_tgid;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
