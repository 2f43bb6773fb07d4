/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads the identity stream once and makes a thread and a process for each life of a number. The
 * system reuses numbers, so a tid stands for a chain of threads in time order. Each one but the
 * first gets its own output number, above all numbers that the kernel assigns.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/who.h"
#include "lib/log.h"
#include "lib/table.h"
#include "trace/trace_limit.h"
#include "trace/trace_read.h"

struct tid_slot *identity_slot(struct model *m, uint32_t tid)
{
	struct tid_slot *slot = map_get(&m->tids, tid);

	if (!slot) {
		slot = xcalloc(1, sizeof(*slot));
		map_set(&m->tids, tid, slot);
	}
	return slot;
}

const struct mthread *identity_thread_at(const struct model *m, uint32_t tid, uint64_t ts_ns)
{
	const struct tid_slot *slot = map_get(&m->tids, tid);
	const struct mthread *found = NULL;

	for (const struct mthread *t = slot ? slot->head : NULL; t && t->pub.start_ns <= ts_ns;
	     t = t->next_inc)
		found = t;
	return found;
}

/* ---- processes ---- */

static struct mprocess *process_last(const struct model *m, uint32_t pid)
{
	struct mprocess *first = map_get(&m->pids, pid);

	return first ? first->last_inc : NULL;
}

static struct mprocess *process_new(struct model *m, uint32_t pid, uint32_t ppid, uint64_t start_ns)
{
	struct mprocess *p = xcalloc(1, sizeof(*p)), *last = process_last(m, pid);
	struct tid_slot *slot = map_get(&m->tids, pid);

	p->pub.pid = pid;
	p->pub.host_pid = trace_host_id(pid);
	p->pub.host_idx = trace_host_of(pid) < m->info.nhosts ? trace_host_of(pid) : 0;
	p->pub.out_pid = pid;
	if (pid && (last || (slot && slot->head) || pid >= PID_LIMIT(m)))
		p->pub.out_pid = m->next_fresh++;
	p->pub.host = m->info.nhosts > 1 && pid ? m->host[p->pub.host_idx].label : "";
	p->pub.ppid = ppid;
	p->pub.start_ns = start_ns < m->info.start_ns ? m->info.start_ns : start_ns;
	p->pub.end_ns = m->info.end_ns;
	p->pub.rank = -1;
	p->pub.job_idx = -1;
	p->pub.job = p->pub.name = p->pub.cmdline = "";
	p->target_since_ns = m->all_targets && pid ? 0 : TIME_NEVER;
	p->pub.is_target = m->all_targets && pid;
	p->pub.idx = m->nprocesses;
	if (last)
		last->next_inc = p;
	else
		map_set(&m->pids, pid, p);
	((struct mprocess *)map_get(&m->pids, pid))->last_inc = p;
	*table_append(m->process, m->nprocesses) = p;
	return p;
}

struct mprocess *identity_process_known(const struct model *m, uint32_t pid, uint64_t ts_ns)
{
	struct mprocess *p = map_get(&m->pids, pid);

	while (p && p->next_inc && p->next_inc->pub.start_ns <= ts_ns)
		p = p->next_inc;
	return p;
}

struct mprocess *identity_process_at(struct model *m, uint32_t pid, uint64_t ts_ns)
{
	return identity_process_known(m, pid, ts_ns) ?: process_new(m, pid, 0, ts_ns);
}

/* ---- threads ---- */

static uint32_t thread_out_tid(struct model *m, struct tid_slot *slot, uint32_t tid,
			       struct mprocess *proc)
{
	if (!tid)
		return 0;
	if (tid == proc->pub.pid && !proc->has_leader)
		return proc->pub.out_pid;
	if (slot->head || tid >= PID_LIMIT(m) || map_get(&m->pids, tid))
		return m->next_fresh++;
	return tid;
}

static void thread_track(struct model *m, struct mthread *t)
{
	if (m->sched_mode == POV_SCHED_ALL)
		t->track_since_ns = 0;
	else if (m->sched_mode == POV_SCHED_RANKS && !t->pub.idle)
		t->track_since_ns = mprocess_of(t->pub.proc)->target_since_ns;
	else
		t->track_since_ns = TIME_NEVER;
}

/* slot: the slot of tid; NULL for tid 0 */
static struct mthread *thread_new(struct model *m, struct tid_slot *slot, uint32_t tid,
				  struct mprocess *proc, uint64_t start_ns)
{
	struct mthread *t = xcalloc(1, sizeof(*t));

	t->pub.tid = tid;
	t->pub.out_tid = thread_out_tid(m, slot, tid, proc);
	t->pub.idx = m->nthreads;
	t->pub.proc = &proc->pub;
	t->pub.start_ns = start_ns < m->info.start_ns ? m->info.start_ns : start_ns;
	t->pub.since_ns = t->pub.start_ns;
	t->pub.end_ns = m->info.end_ns;
	t->exit_ns = TIME_NEVER;
	t->older = proc->newest;
	proc->newest = t;
	if (tid == proc->pub.pid)
		proc->has_leader = true;
	proc->alive++;
	*table_append(m->thread, m->nthreads) = t;
	return t;
}

/* Inserts the thread after `after`; NULL: as the first one. */
static void slot_insert(struct tid_slot *slot, struct mthread *after, struct mthread *t)
{
	struct mthread **link = after ? &after->next_inc : &slot->head;

	t->next_inc = *link;
	*link = t;
	if (!t->next_inc)
		slot->tail = t;
}

struct mthread *identity_stranger_new(struct model *m, struct tid_slot *slot, struct mthread *after,
				      uint32_t tid, uint64_t ts_ns)
{
	struct mprocess *proc = identity_process_at(m, tid, ts_ns);
	struct mthread *t;

	if (proc->has_leader && !proc->alive && proc->pub.end_ns < ts_ns && !proc->next_inc)
		proc = process_new(m, tid, 0, ts_ns);
	t = thread_new(m, slot, tid, proc, ts_ns);
	snprintf(t->first_comm, sizeof(t->first_comm), "tid %u",
		 tid < PID_LIMIT(m) ? trace_host_id(tid) : tid);
	memcpy(t->pub.comm, t->first_comm, sizeof(t->pub.comm));
	if (!proc->name && !*proc->pub.name) {
		proc->name = xstrdup(t->first_comm);
		proc->pub.name = proc->name;
	}
	thread_track(m, t);
	slot_insert(slot, after, t);
	return t;
}

void identity_thread_rehome(struct model *m, struct mthread *t, uint32_t tgid, uint64_t ts_ns)
{
	struct mprocess *from = mprocess_of(t->pub.proc), *to;
	struct mthread **link;

	if (t->announced || t->pub.idle || from->pub.pid == tgid)
		return;
	for (link = &from->newest; *link != t; link = &(*link)->older)
		;
	*link = t->older;
	to = identity_process_at(m, tgid, ts_ns);
	t->older = to->newest;
	to->newest = t;
	t->pub.proc = &to->pub;
	thread_track(m, t);
}

static void thread_set_comm(struct mthread *t, const char *comm)
{
	memcpy(t->pub.comm, comm, sizeof(t->pub.comm));
	t->pub.comm[sizeof(t->pub.comm) - 1] = 0;
	if (!t->first_comm[0])
		memcpy(t->first_comm, t->pub.comm, sizeof(t->first_comm));
}

static void thread_ended(struct mthread *t, uint64_t ts_ns)
{
	struct mprocess *p = mprocess_of(t->pub.proc);

	if (t->exit_ns != TIME_NEVER)
		return;
	t->exit_ns = ts_ns;
	t->pub.end_ns = ts_ns;
	if (p->alive)
		p->alive--;
	if (!p->alive)
		p->pub.end_ns = ts_ns;
}

/* ---- the identity records ---- */

static struct mthread *thread_living(struct model *m, uint32_t tid)
{
	struct tid_slot *slot = identity_slot(m, tid);

	return slot->tail && slot->tail->exit_ns == TIME_NEVER ? slot->tail : NULL;
}

static struct mthread *learn_thread(struct model *m, uint32_t tid, struct mprocess *proc,
				    uint64_t start_ns)
{
	struct tid_slot *slot = identity_slot(m, tid);
	struct mthread *t = thread_new(m, slot, tid, proc, start_ns);

	t->announced = true;
	slot_insert(slot, slot->tail, t);
	return t;
}

/* The process of a newly met thread. A leader starts a new process unless one already exists. */
static struct mprocess *learn_process(struct model *m, uint32_t tid, uint32_t tgid, uint32_t ppid,
				      uint64_t start_ns)
{
	struct mprocess *p = process_last(m, tgid);

	if (!p || (tid == tgid && p->has_leader && !p->alive))
		p = process_new(m, tgid, ppid, start_ns);
	return p;
}

static void learn_task(struct model *m, const struct pov_task *rec)
{
	uint32_t tid = rec->hdr.tid;
	struct mthread *t = thread_living(m, tid);
	uint64_t start_ns = rec->start_ns;
	struct mprocess *p;

	if (!tid)
		return;
	if (start_ns > rec->hdr.ts_ns || rec->hdr.kind != POV_KIND_TASK)
		start_ns = rec->hdr.ts_ns;
	if (!t) {
		p = learn_process(m, tid, rec->tgid, rec->ppid, start_ns);
		t = learn_thread(m, tid, p, start_ns);
	}
	p = mprocess_of(t->pub.proc);
	if (rec->hdr.kind != POV_KIND_RENAME)
		t->pub.kthread = rec->kthread;
	if (rec->hdr.kind == POV_KIND_TASK && rec->state & STATE_DEAD_BITS)
		thread_ended(t, rec->hdr.ts_ns);
	if (tid == p->pub.pid && start_ns < p->pub.start_ns)
		p->pub.start_ns = t->pub.start_ns;
	if (!p->pub.ppid)
		p->pub.ppid = rec->ppid;
	thread_set_comm(t, rec->comm);
}

static void learn_fork(struct model *m, const struct pov_fork *rec)
{
	uint64_t ts_ns = rec->hdr.ts_ns;
	struct mthread *t = thread_living(m, rec->child_tid), *parent;
	struct mprocess *p;

	if (!rec->child_tid)
		return;
	if (t)
		thread_ended(t, ts_ns);
	if (rec->child_tid == rec->child_tgid) {
		p = process_new(m, rec->child_tgid, rec->parent_tgid, ts_ns);
		p->parent = process_last(m, rec->parent_tgid);
	} else {
		p = learn_process(m, rec->child_tid, rec->child_tgid, 0, ts_ns);
	}
	t = learn_thread(m, rec->child_tid, p, ts_ns);
	parent = thread_living(m, rec->hdr.tid);
	t->pub.kthread = parent && parent->pub.kthread;
	thread_set_comm(t, rec->comm);
}

static void siblings_end(const struct mthread *survivor, uint64_t ts_ns)
{
	for (struct mthread *t = mprocess_of(survivor->pub.proc)->newest; t; t = t->older) {
		if (t != survivor)
			thread_ended(t, ts_ns);
	}
}

/* exec ends all threads but the caller, which takes the leader's number. */
static void learn_exec(struct model *m, const struct pov_task *rec)
{
	struct mprocess *p;
	struct mthread *t;

	learn_task(m, rec);
	t = thread_living(m, rec->hdr.tid);
	if (!t)
		return;
	p = mprocess_of(t->pub.proc);
	p->exec_ns = rec->hdr.ts_ns;
	memcpy(p->exec_comm, t->pub.comm, sizeof(p->exec_comm));
	if (p->alive > 1)
		siblings_end(t, rec->hdr.ts_ns);
	p->alive = 1;
	p->pub.end_ns = m->info.end_ns;
}

static void learn_exit(struct model *m, const struct pov_exit *rec)
{
	struct mthread *t = thread_living(m, rec->hdr.tid);
	struct mprocess *p;

	if (!t || !rec->hdr.tid)
		return;
	p = mprocess_of(t->pub.proc);
	thread_ended(t, rec->hdr.ts_ns);
	p->leader_exited |= rec->hdr.tid == p->pub.pid;
	p->pub.exited = p->leader_exited && !p->alive;
	ending_exit_learn(p, rec);
}

static void learn_signal(struct model *m, const struct pov_signal *rec)
{
	struct mprocess *p = process_last(m, rec->tgid);

	if (p && rec->tgid)
		ending_signal_learn(p, rec);
}

/*
 * Adds up what the threads of a process wrote. Subtracts what the thread reported before: it may
 * report twice, if it exits after the final values were read.
 */
static void learn_written(struct model *m, const struct pov_written *rec)
{
	struct mthread *t = thread_living(m, rec->hdr.tid);
	struct mprocess *p;

	if (!t || !rec->hdr.tid)
		return;
	p = mprocess_of(t->pub.proc);
	if (rec->hdr.flags & POV_WRITTEN_BEGIN) {
		p->written_since |= rec->hdr.tid == p->pub.pid;
	} else {
		p->pub.written_bytes += rec->bytes - t->written_bytes;
		p->pub.write_calls += rec->calls - t->write_calls;
		p->pub.written_known |= rec->hdr.tid == p->pub.pid &&
					(p->parent || p->written_since);
	}
	t->written_bytes = rec->bytes;
	t->write_calls = rec->calls;
}

/* If any record was lost, it may have been a thread's report: the sums are unknown. */
static void written_settle(struct model *m)
{
	for (uint32_t i = 0; i < m->nprocesses; i++)
		m->process[i]->pub.written_known &= !m->identity_lost && !m->damaged;
}

static void learn_record(struct model *m, const struct pov_hdr *rec)
{
	if (!record_ok(rec))
		return;
	switch (rec->kind) {
	case POV_KIND_TASK:
	case POV_KIND_RENAME:
		learn_task(m, (const struct pov_task *)rec);
		break;
	case POV_KIND_EXEC:
		learn_exec(m, (const struct pov_task *)rec);
		break;
	case POV_KIND_FORK:
		learn_fork(m, (const struct pov_fork *)rec);
		break;
	case POV_KIND_EXIT:
		learn_exit(m, (const struct pov_exit *)rec);
		break;
	case POV_KIND_LOST:
		m->identity_lost |= ((const struct pov_lost *)rec)->class == POV_CLASS_TASK;
		break;
	case POV_KIND_WRITTEN:
		learn_written(m, (const struct pov_written *)rec);
		break;
	case POV_KIND_SIGNAL:
		learn_signal(m, (const struct pov_signal *)rec);
		break;
	}
}

/* ---- CPUs ---- */

struct cpu_state *identity_cpu(struct model *m, uint16_t cpu)
{
	struct mthread *t;
	uint32_t local;

	if (!m->cpu[cpu].idle) {
		t = thread_new(m, NULL, 0, m->idle_proc, m->info.start_ns);
		t->pub.idle = t->pub.kthread = true;
		t->pub.cpu = cpu;
		t->announced = t->born = true;
		model_host_of_cpu(m, cpu, &local);
		snprintf(t->first_comm, sizeof(t->first_comm), "swapper/%u", local);
		memcpy(t->pub.comm, t->first_comm, sizeof(t->pub.comm));
		thread_track(m, t);
		m->cpu[cpu].idle = t;
	}
	return &m->cpu[cpu];
}

int identity_check(const struct model *m)
{
	uint64_t cnt = (uint64_t)m->nthreads + m->nprocesses;

	if (cnt <= m->identities_max && m->tids.cnt <= m->identities_max)
		return 0;
	log_error(
		"model: the file names more than %llu threads and processes, more than recordings "
		"of its size do; it is damaged or made up",
		(unsigned long long)m->identities_max);
	return -E2BIG;
}

int identity_learn(struct model *m)
{
	const struct trace_merge_options opt = {.tasks_only = true};
	struct trace_merge *merge;
	const struct pov_hdr *rec;
	int err;

	m->identities_max = trace_get_summary(m->trace)->file_bytes / TRACE_IDENTITY_BYTES +
			    TRACE_IDENTITIES_BASE;
	m->next_fresh = PID_LIMIT(m) + 1;
	m->cpu = xcalloc(MODEL_CPUS_MAX, sizeof(*m->cpu));
	m->idle_proc = process_new(m, 0, 0, m->info.start_ns);
	m->idle_proc->pub.name = "idle";
	for (uint32_t i = 0; i < m->info.nr_cpus && i < MODEL_CPUS_MAX; i++)
		identity_cpu(m, (uint16_t)i);
	err = trace_merge_open(m->trace, &opt, &merge);
	if (err)
		return err;
	while (!err && (err = trace_merge_next(merge, &rec)) == 1) {
		learn_record(m, rec);
		err = identity_check(m);
	}
	trace_merge_close(merge);
	if (err)
		return err;
	describe_processes(m);
	endings_settle(m);
	written_settle(m);
	for (uint32_t i = 0; i < m->nthreads; i++)
		thread_track(m, m->thread[i]);
	return 0;
}

static void process_free(struct mprocess *p)
{
	ending_release(p);
	free(p->image);
	free(p->name);
	free(p->cmdline);
	free(p);
}

void identity_release(struct model *m)
{
	map_free(&m->tids, free);
	map_release(&m->pids);
	for (uint32_t i = 0; i < m->nthreads; i++)
		free(m->thread[i]);
	free(m->thread);
	for (uint32_t i = 0; i < m->nprocesses; i++)
		process_free(m->process[i]);
	free(m->process);
	free(m->cpu);
}

bool record_ok(const struct pov_hdr *rec)
{
	switch (rec->kind) {
	case POV_KIND_SWITCH:
		return ((const struct pov_switch *)rec)->cpu < MODEL_CPUS_MAX;
	case POV_KIND_WAKING:
		return ((const struct pov_waking *)rec)->cpu < MODEL_CPUS_MAX &&
		       ((const struct pov_waking *)rec)->target_cpu < MODEL_CPUS_MAX;
	case POV_KIND_MIGRATE:
		return ((const struct pov_migrate *)rec)->orig_cpu < MODEL_CPUS_MAX &&
		       ((const struct pov_migrate *)rec)->dest_cpu < MODEL_CPUS_MAX;
	case POV_KIND_IRQ:
		return ((const struct pov_irq *)rec)->cpu < MODEL_CPUS_MAX;
	case POV_KIND_CALL:
	case POV_KIND_UNSHOWN:
		return rec->tid && ((const struct pov_call *)rec)->cpu < MODEL_CPUS_MAX;
	case POV_KIND_SPIN:
		return rec->tid && ((const struct pov_spin *)rec)->cpu < MODEL_CPUS_MAX &&
		       ((const struct pov_spin *)rec)->nfuncs;
	case POV_KIND_CALL_BEGIN:
	case POV_KIND_COUNTED:
		return rec->tid;
	case POV_KIND_REGION:
		return rec->tid && ((const struct pov_region *)rec)->cpu < MODEL_CPUS_MAX;
	case POV_KIND_TASK:
	case POV_KIND_EXEC:
		return ((const struct pov_task *)rec)->cpu < MODEL_CPUS_MAX;
	}
	return true;
}
