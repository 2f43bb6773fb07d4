/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Handles each kind of record: finds its threads, changes their states, reports to the sinks. */
#include <assert.h>
#include <string.h>

#include "model/replay.h"

/* ---- the thread that has a number now ---- */

static void thread_born(struct model *m, struct mthread *t, uint64_t ts_ns)
{
	t->born = true;
	TELL(m, thread, &t->pub, ts_ns);
}

/* Advances the slot to the thread that has the number at ts_ns. */
struct mthread *replay_slot_advance(struct model *m, struct tid_slot *slot, uint64_t ts_ns)
{
	struct mthread *next = slot->cur ? slot->cur->next_inc : slot->head;

	while (next && next->pub.start_ns <= ts_ns) {
		if (slot->cur)
			state_die(m, slot->cur, ts_ns);
		slot->cur = next;
		if (!next->born)
			thread_born(m, next, ts_ns);
		next = next->next_inc;
	}
	return slot->cur;
}

/* A thread may be seen leaving the CPU for this long after its exit record. */
#define EXIT_GRACE_NS UINT64_C(100000000)

static bool just_died(const struct mthread *t, uint64_t ts_ns)
{
	return t->exit_ns != TIME_NEVER && ts_ns - t->exit_ns < EXIT_GRACE_NS;
}

/*
 * alive: the record proves that the thread lives. A dead one then means that the birth of its
 * successor was lost.
 */
static struct mthread *thread_at(struct model *m, uint32_t tid, uint16_t cpu, uint64_t ts_ns,
				 bool alive)
{
	struct tid_slot *slot;
	struct mthread *t;

	if (!tid)
		return identity_cpu(m, cpu)->idle;
	slot = map_get(&m->tids, tid);
	if (!slot)
		slot = identity_slot(m, tid);
	t = slot->cur;
	if (!t || (t->next_inc && t->next_inc->pub.start_ns <= ts_ns))
		t = replay_slot_advance(m, slot, ts_ns);
	if (t && (!alive || t->pub.state != THREAD_DEAD || just_died(t, ts_ns)))
		return t;
	m->stats.unannounced_threads += m->sched_mode == POV_SCHED_ALL;
	t = identity_stranger_new(m, slot, t, tid, ts_ns);
	slot->cur = t;
	thread_born(m, t, ts_ns);
	return t;
}

/* ---- scheduler ---- */

static void switch_record(struct model *m, const struct pov_switch *rec)
{
	uint64_t ts_ns = m->now_ns;
	uint16_t cpu = rec->cpu;
	struct model_switch s = {
		.ts_ns = ts_ns,
		.cpu = cpu,
		.prev_prio = rec->prev_prio,
		.next_prio = rec->next_prio,
		.prev_state = rec->prev_state,
		.preempted = rec->hdr.flags & POV_SWITCH_PREEMPTED,
	};
	struct mthread *prev, *next;
	bool dies;

	if (m->sched_since_ns == TIME_NEVER)
		m->sched_since_ns = ts_ns;
	if (rec->hdr.tid == rec->next_tid) {
		m->stats.bad_records++;
		return;
	}
	prev = thread_at(m, rec->hdr.tid, cpu, ts_ns, true);
	next = thread_at(m, rec->next_tid, cpu, ts_ns, true);
	dies = !prev->pub.idle && rec->prev_state & STATE_DEAD_BITS &&
	       prev->pub.state != THREAD_DEAD;
	state_running_at(m, prev, ts_ns, cpu);
	if (prev->pub.idle)
		state_set(m, prev, ts_ns, THREAD_BLOCKED, cpu);
	else if (dies)
		state_set(m, prev, ts_ns, THREAD_DEAD, cpu);
	else
		state_set(m, prev, ts_ns, s.preempted ? THREAD_RUNNABLE : THREAD_BLOCKED, cpu);
	prev->pub.asleep_as = s.preempted ? 0 : rec->prev_state;
	next->pub.asleep_as = 0;
	if (m->cpu[cpu].cur == prev)
		m->cpu[cpu].cur = NULL;
	state_enter(m, next, ts_ns, cpu, prev->pub.idle);
	m->cpu[cpu].quiet_since_ns = ts_ns;
	s.prev = &prev->pub;
	s.next = &next->pub;
	TELL(m, on_switch, &s);
	if (dies)
		state_bury(m, prev, ts_ns);
}

static void waking_record(struct model *m, const struct pov_waking *rec)
{
	uint64_t ts_ns = m->now_ns;
	struct model_waking w = {
		.ts_ns = ts_ns,
		.cpu = rec->cpu,
		.target_cpu = rec->target_cpu,
		.prio = rec->prio,
		.is_new = rec->hdr.flags & POV_WAKING_NEW,
		.by_interrupt = rec->hdr.flags & POV_WAKING_INTERRUPT,
	};
	struct mthread *waker = thread_at(m, rec->hdr.tid, rec->cpu, ts_ns, true), *target;

	if (!rec->target_tid)
		return;
	target = thread_at(m, rec->target_tid, rec->target_cpu, ts_ns, true);
	target->pub.asleep_as = 0;
	state_running_at(m, waker, ts_ns, rec->cpu);
	if (target->pub.state == THREAD_BLOCKED || target->pub.state == THREAD_UNKNOWN)
		state_set(m, target, ts_ns, THREAD_RUNNABLE, rec->target_cpu);
	else if (target->pub.state == THREAD_RUNNING)
		target->woken_running_ns = ts_ns;
	w.waker = &waker->pub;
	w.target = &target->pub;
	TELL(m, waking, &w);
}

static void migrate_record(struct model *m, const struct pov_migrate *rec)
{
	struct mthread *t = thread_at(m, rec->hdr.tid, rec->orig_cpu, m->now_ns, true);
	struct model_migrate g = {
		.ts_ns = m->now_ns,
		.orig_cpu = rec->orig_cpu,
		.dest_cpu = rec->dest_cpu,
		.thread = &t->pub,
	};

	if (t->pub.idle)
		return;
	state_move(m, t, rec->dest_cpu);
	TELL(m, migrate, &g);
}

static void irq_record(struct model *m, const struct pov_irq *rec)
{
	struct mthread *t = thread_at(m, rec->hdr.tid, rec->cpu, m->now_ns, false);
	struct model_irq i = {
		.begin_ns = rec->dur_ns < m->now_ns ? m->now_ns - rec->dur_ns : 0,
		.end_ns = m->now_ns,
		.cpu = rec->cpu,
		.vec = rec->vec,
		.soft = rec->hdr.flags & POV_IRQ_SOFT,
		.thread = &t->pub,
	};

	TELL(m, irq, &i);
}

static void sample_record(struct model *m, const struct pov_sample *rec)
{
	struct mthread *t = thread_at(m, rec->hdr.tid, 0, m->now_ns, false);
	struct model_sample p = {.thread = &t->pub,
				 .ts_ns = m->now_ns,
				 .by_stack = rec->hdr.flags & POV_SAMPLE_STACK,
				 .caller = (const uint64_t *)rec->caller,
				 .ncallers = pov_sample_callers(rec),
				 .cut = rec->hdr.flags & POV_SAMPLE_CUT};

	if (t->pub.idle)
		return;
	image_find(mprocess_of(t->pub.proc), rec->ip, &p.at);
	TELL(m, sample, &p);
}

void model_sample_caller(const struct model_sample *s, uint32_t i, struct model_site *out)
{
	image_find(mprocess_of(s->thread->proc), s->caller[i], out);
}

static void lost_record(struct model *m, const struct pov_lost *rec)
{
	struct model_lost l = {
		.since_ns = rec->since_ns,
		.ts_ns = m->now_ns,
		.cnt = rec->cnt,
		.ring = rec->ring,
		.class = rec->class,
	};

	TELL(m, lost, &l);
}

/* Reported as a loss to sinks that need single calls. */
static void left_out_tell(struct model *m, const struct model_limit *l)
{
	const struct model_lost lost = {
		.since_ns = l->since_ns,
		.ts_ns = l->ts_ns,
		.class = POV_CLASS_CALL,
		.left_out = l->func,
		.counted = l->state == POV_LIMIT_COUNTED,
	};

	for (uint32_t i = 0; i < m->nlayers; i++)
		if (layers[i] == l->func->layer && layers[i]->decoder_left_out)
			layers[i]->decoder_left_out(m->decoder[i], l->func);
	TELL(m, lost, &lost);
}

static void limit_record(struct model *m, const struct pov_limit *rec)
{
	struct model_limit l = {
		.since_ns = rec->since_ns < m->now_ns ? rec->since_ns : m->now_ns,
		.ts_ns = m->now_ns,
		.func = func_find(m, rec->func),
		.state = rec->state,
		.cost = rec->cost_ppm / 1e6,
		.limit = rec->limit_ppm / 1e6,
	};
	const struct mprocess *p = map_get(&m->pids, rec->tgid);

	if (!l.func || (l.state != POV_LIMIT_COUNTED && l.state != POV_LIMIT_DETACHED))
		return;
	if (l.since_ns < m->info.start_ns) /* the recording is a part of a longer one */
		l.since_ns = m->info.start_ns;
	if (p)
		l.proc = &identity_process_at(m, rec->tgid, m->now_ns)->pub;
	TELL(m, limit, &l);
	left_out_tell(m, &l);
}

/* ---- calls ---- */

static struct mthread *caller_find(struct model *m, const struct pov_hdr *rec, uint32_t tgid,
				   uint16_t cpu)
{
	struct mthread *t = thread_at(m, rec->tid, cpu, m->now_ns, false);

	if (!t->announced && t->pub.proc->pid != tgid)
		identity_thread_rehome(m, t, tgid, m->now_ns);
	return t;
}

static void counted_record(struct model *m, const struct pov_counted *rec)
{
	struct mthread *t = caller_find(m, &rec->hdr, rec->tgid, 0);
	bool has_bytes = rec->hdr.size >= sizeof(*rec) &&
			 rec->sized <= rec->calls; /* not in older traces */
	struct model_counted c = {
		.thread = &t->pub,
		.func = func_find(m, rec->func),
		.begin_ns = rec->dur_ns < m->now_ns ? m->now_ns - rec->dur_ns : 0,
		.end_ns = m->now_ns,
		.calls = rec->calls,
		.busy_ns = rec->busy_ns,
		.bytes = has_bytes ? rec->bytes : 0,
		.sized = has_bytes ? rec->sized : 0,
		.lib = rec->lib,
		.inner = rec->hdr.flags & POV_COUNTED_NESTED,
		.preloaded = rec->hdr.flags & POV_COUNTED_PRELOADED,
	};

	if (c.begin_ns < m->info.start_ns)
		c.begin_ns = m->info.start_ns;
	/* only calls of the top layer can enclose the top layer */
	c.nested = c.inner && func_is_top(c.func);
	TELL(m, counted, &c);
}

static void room_record(struct model *m, const struct pov_room *rec)
{
	struct mthread *t = caller_find(m, &rec->hdr, rec->tgid, 0);
	uint64_t begin_ns = rec->dur_ns < m->now_ns ? m->now_ns - rec->dur_ns : 0;
	const struct model_room r = {
		.thread = &t->pub,
		.begin_ns = begin_ns > m->info.start_ns ? begin_ns : m->info.start_ns,
		.end_ns = m->now_ns,
	};

	TELL(m, room, &r);
}

static void calls_record(struct model *m, const struct pov_hdr *rec)
{
	const struct pov_call *call = (const struct pov_call *)rec;
	const struct pov_call_begin *begin = (const struct pov_call_begin *)rec;
	const struct pov_spin *spin = (const struct pov_spin *)rec;
	const struct pov_region *region = (const struct pov_region *)rec;
	struct mthread *t;

	if (pov_is_call(rec)) {
		t = caller_find(m, rec, call->tgid, call->cpu);
		if (!(rec->flags & (POV_CALL_OPEN | POV_CALL_UNWOUND | POV_CALL_EARLIER)))
			state_running_at(m, t, m->now_ns, call->cpu);
		if (rec->kind == POV_KIND_CALL)
			call_record(m, t, call);
		else
			call_unshown_record(m, t, call);
	} else if (rec->kind == POV_KIND_CALL_BEGIN) {
		call_begin_record(m, caller_find(m, rec, begin->tgid, 0), begin);
	} else if (rec->kind == POV_KIND_REGION) {
		t = caller_find(m, rec, region->tgid, region->cpu);
		if (!(rec->flags & POV_REGION_EARLIER))
			state_running_at(m, t, m->now_ns, region->cpu);
		region_record(m, t, region);
	} else {
		t = caller_find(m, rec, spin->tgid, spin->cpu);
		if (!(rec->flags & POV_SPIN_OPEN))
			state_running_at(m, t, m->now_ns, spin->cpu);
		spin_record(m, t, spin);
	}
}

/* ---- identity ---- */

static void thread_rename(struct model *m, struct mthread *t, const char *comm)
{
	memcpy(t->pub.comm, comm, sizeof(t->pub.comm));
	t->pub.comm[sizeof(t->pub.comm) - 1] = 0;
	TELL(m, thread, &t->pub, m->now_ns);
}

static void rename_record(struct model *m, const struct pov_task *rec)
{
	struct mthread *t = thread_at(m, rec->hdr.tid, 0, m->now_ns, false);

	if (t->pub.tid == t->pub.proc->pid)
		mprocess_of(t->pub.proc)->renamed_ns = m->now_ns;
	thread_rename(m, t, rec->comm);
}

static void task_record(struct model *m, const struct pov_task *rec)
{
	struct mthread *t = thread_at(m, rec->hdr.tid, rec->cpu, m->now_ns, false);
	struct cpu_state *c = identity_cpu(m, rec->cpu);
	struct mthread *cur = c->cur;

	if (strncmp(t->pub.comm, rec->comm, sizeof(t->pub.comm) - 1))
		thread_rename(m, t, rec->comm);
	if (rec->state & STATE_DEAD_BITS) {
		state_die(m, t, m->now_ns);
		return;
	}
	/* Events are more reliable than a sample, which is not taken at one instant. */
	if (t->pub.state != THREAD_UNKNOWN)
		return;
	t->pub.asleep_as = rec->on_cpu ? 0 : rec->state;
	if (!rec->on_cpu) {
		state_set(m, t, m->now_ns, rec->state ? THREAD_BLOCKED : THREAD_RUNNABLE, rec->cpu);
	} else if (!cur || cur->pub.state != THREAD_RUNNING || cur->pub.cpu != rec->cpu) {
		state_set(m, t, m->now_ns, THREAD_RUNNING, rec->cpu);
		if (t->pub.state == THREAD_RUNNING)
			c->cur = t;
	}
}

static void fork_record(struct model *m, const struct pov_fork *rec)
{
	struct mthread *t;
	struct mprocess *p;

	if (!rec->child_tid)
		return;
	t = thread_at(m, rec->child_tid, 0, m->now_ns, false);
	p = mprocess_of(t->pub.proc);
	if (t->pub.start_ns != m->now_ns)
		return;
	/* A new thread is on no run queue before its first wake-up. */
	state_set(m, t, m->now_ns, THREAD_BLOCKED, 0);
	if (p->parent && rec->child_tid == rec->child_tgid)
		image_inherit(p, p->parent);
}

static void exec_record(struct model *m, const struct pov_task *rec)
{
	struct mthread *t = thread_at(m, rec->hdr.tid, rec->cpu, m->now_ns, false);
	struct mprocess *p = mprocess_of(t->pub.proc);

	if (t->pub.idle)
		return;
	for (struct mthread *other = p->newest; other; other = other->older) {
		if (other != t && other->born)
			state_die(m, other, m->now_ns);
	}
	region_stack_end(m, t, m->now_ns, REGION_UNWOUND);
	image_exec(p);
	if (m->opt.counters)
		in_flight_end(m, p, m->now_ns);
	thread_rename(m, t, rec->comm);
}

static void exit_record(struct model *m, const struct pov_exit *rec)
{
	struct mthread *t = thread_at(m, rec->hdr.tid, 0, m->now_ns, false);
	struct mprocess *p = mprocess_of(t->pub.proc);

	if (t->pub.idle)
		return;
	/* It runs until its last switch, if that can be seen. */
	if (t->pub.state == THREAD_RUNNING)
		t->exiting = true;
	else
		state_die(m, t, m->now_ns);
	if (m->opt.counters && rec->hdr.tid == p->pub.pid)
		in_flight_end(m, p, m->now_ns);
}

static void signal_record(struct model *m, const struct pov_signal *rec)
{
	struct mprocess *p = identity_process_known(m, rec->tgid, m->now_ns);

	if (p)
		ending_signal_place(p, rec);
}

static void affinity_record(struct model *m, const struct pov_affinity *rec)
{
	struct model_affinity f = {.ts_ns = m->now_ns};

	static_assert(sizeof(f.cpus) == sizeof(rec->mask), "both have the kernel's words");
	f.thread = &thread_at(m, rec->hdr.tid, 0, m->now_ns, false)->pub;
	memcpy(&f.cpus, rec->mask, sizeof(f.cpus));
	TELL(m, affinity, &f);
}

static void identity_record(struct model *m, const struct pov_hdr *rec)
{
	const struct pov_image *image = (const struct pov_image *)rec;

	if (!rec->tid && rec->kind != POV_KIND_FORK)
		return;
	switch (rec->kind) {
	case POV_KIND_TASK:
		task_record(m, (const struct pov_task *)rec);
		break;
	case POV_KIND_FORK:
		fork_record(m, (const struct pov_fork *)rec);
		break;
	case POV_KIND_EXEC:
		exec_record(m, (const struct pov_task *)rec);
		break;
	case POV_KIND_EXIT:
		exit_record(m, (const struct pov_exit *)rec);
		break;
	case POV_KIND_SIGNAL:
		signal_record(m, (const struct pov_signal *)rec);
		break;
	case POV_KIND_RENAME:
		rename_record(m, (const struct pov_task *)rec);
		break;
	case POV_KIND_AFFINITY:
		affinity_record(m, (const struct pov_affinity *)rec);
		break;
	case POV_KIND_IMAGE:
		image_record(m, identity_process_at(m, image->tgid, m->now_ns), image);
		break;
	}
}

/* ---- dispatch ---- */

static void more_record(struct model *m, const struct pov_more *rec)
{
	for (uint32_t i = 0; i < m->nlayers; i++)
		layer_decoder_more(layers[i], m->decoder[i], rec);
}

void replay_record(struct model *m, const struct pov_hdr *rec)
{
	if (!record_ok(rec)) {
		m->stats.bad_records++;
		return;
	}
	switch (rec->kind) {
	case POV_KIND_SWITCH:
		switch_record(m, (const struct pov_switch *)rec);
		break;
	case POV_KIND_WAKING:
		waking_record(m, (const struct pov_waking *)rec);
		break;
	case POV_KIND_MIGRATE:
		migrate_record(m, (const struct pov_migrate *)rec);
		break;
	case POV_KIND_IRQ:
		irq_record(m, (const struct pov_irq *)rec);
		break;
	case POV_KIND_SAMPLE:
		sample_record(m, (const struct pov_sample *)rec);
		break;
	case POV_KIND_CALL:
	case POV_KIND_UNSHOWN:
	case POV_KIND_CALL_BEGIN:
	case POV_KIND_SPIN:
	case POV_KIND_REGION:
		calls_record(m, rec);
		break;
	case POV_KIND_COUNTED:
		counted_record(m, (const struct pov_counted *)rec);
		break;
	case POV_KIND_ROOM:
		room_record(m, (const struct pov_room *)rec);
		break;
	case POV_KIND_LIMIT:
		limit_record(m, (const struct pov_limit *)rec);
		break;
	case POV_KIND_MORE:
		more_record(m, (const struct pov_more *)rec);
		break;
	case POV_KIND_TASK:
	case POV_KIND_FORK:
	case POV_KIND_EXEC:
	case POV_KIND_EXIT:
	case POV_KIND_SIGNAL:
	case POV_KIND_RENAME:
	case POV_KIND_AFFINITY:
	case POV_KIND_IMAGE:
	case POV_KIND_CALLER:
	case POV_KIND_WRITTEN:
		identity_record(m, rec);
		break;
	case POV_KIND_LOST:
		lost_record(m, (const struct pov_lost *)rec);
		break;
	case POV_KIND_LOSS_BEGIN:
		gap_begin(m, (const struct pov_lost *)rec);
		break;
	case POV_KIND_LOSS_END:
		gap_end(m, (const struct pov_lost *)rec);
		break;
	default:
		m->stats.unknown_records++;
	}
}
