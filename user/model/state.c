/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The state of each thread, derived from evidence only. Intervals are reported when they close, so
 * that later records can still correct them:
 * - A thread that does something on a CPU has run there since the CPU's last switch: every switch
 *   is recorded.
 * - A thread that was woken while leaving the CPU, and returns without another wake-up, was
 *   runnable in between.
 * - A thread that enters an idle CPU without a wake-up was woken at that moment: an idle CPU leaves
 *   nobody waiting. (One kernel ran no BPF program on top of some of its threads, so that their
 *   wake-ups were not recorded.)
 * - A state that a later record excludes becomes UNKNOWN.
 * The times of a thread always add up to its lifetime.
 */
#include "model/when.h"

/* ---- gaps ---- */

/*
 * Gaps: periods in which scheduler records are missing, because the kernel half lost them or
 * because blocks of the file are damaged. The reader inserts their begins and ends among the
 * records. In a gap only one state remains known: that of a thread running on a CPU whose ring lost
 * nothing. Every other state is UNKNOWN from the begin of the gap until the thread's first event
 * after its end.
 */

/* Counter of open gaps of a ring; shared by all rings if the number is invalid. */
static uint32_t *gaps_open_of(struct model *m, uint32_t ring)
{
	return ring < m->rings ? &m->gaps_open_ring[ring] : &m->gaps_open_all;
}

/*
 * If a loss is noticed only after its begin (since_ns), reported intervals cannot be taken back.
 * The state that each thread has had since its last event can.
 */
void gap_begin(struct model *m, const struct pov_lost *rec)
{
	uint64_t ts_ns = rec->hdr.ts_ns, since_ns;
	struct mthread *t;

	m->stats.sched_gaps_late += rec->since_ns < ts_ns;
	if (!m->gaps_open++)
		m->gap_since_ns = ts_ns > m->info.start_ns ? ts_ns : m->info.start_ns;
	if ((*gaps_open_of(m, rec->ring))++)
		return;
	m->stats.sched_gaps++;
	for (uint32_t i = 0; i < m->nthreads; i++) {
		t = m->thread[i];
		if (!t->born || t->pub.state == THREAD_DEAD || t->pub.state == THREAD_UNKNOWN)
			continue;
		if (t->pub.state == THREAD_RUNNING && !gap_blinds(m, t->pub.cpu))
			continue;
		since_ns = rec->since_ns > t->pub.since_ns ? rec->since_ns : t->pub.since_ns;
		if (t->exiting)
			state_die(m, t, since_ns);
		else
			state_set(m, t, since_ns, THREAD_UNKNOWN, t->pub.cpu);
	}
}

static void gap_count_ns(struct model *m, uint64_t until_ns)
{
	if (until_ns > m->info.end_ns)
		until_ns = m->info.end_ns;
	if (until_ns > m->gap_since_ns)
		m->stats.sched_gap_ns += until_ns - m->gap_since_ns;
}

void gap_end(struct model *m, const struct pov_lost *rec)
{
	uint64_t ts_ns = rec->hdr.ts_ns;

	if (!--m->gaps_open)
		gap_count_ns(m, ts_ns);
	if (--*gaps_open_of(m, rec->ring))
		return;
	for (uint32_t cpu = 0; cpu < MODEL_CPUS_MAX; cpu++) {
		struct cpu_state *c = &m->cpu[cpu];

		if (gap_blinds(m, (uint16_t)cpu) || c->quiet_since_ns >= ts_ns)
			continue;
		if (rec->ring >= m->rings || gap_ring(m, (uint16_t)cpu) == rec->ring)
			c->quiet_since_ns = ts_ns;
	}
}

void gap_finish(struct model *m)
{
	if (m->gaps_open)
		gap_count_ns(m, m->info.end_ns);
}

/* ---- states ---- */

/*
 * A wake-up that came longer than this before the switch belonged to an earlier sleep. Bare metal
 * needs nanoseconds, but a hypervisor may take the CPU from the waker or the thread in between: 1
 * ms was too short for 4 of 47 wake-ups in an emulated machine. A long limit does little harm. It
 * applies only if a thread comes back without another wake-up and no record is lost; then no other
 * wake-up can have brought it back.
 */
#define WAKE_FLIGHT_NS 10000000

static void runnable_count(struct model *m, uint16_t cpu, int by)
{
	struct cpu_state *c = identity_cpu(m, cpu);

	c->runnable += by;
	if (c->dirty || !m->opt.counters)
		return;
	if (m->ndirty == sizeof(m->dirty) / sizeof(m->dirty[0]))
		state_counters_tell(m, m->now_ns);
	c->dirty = true;
	m->dirty[m->ndirty++] = cpu;
}

void state_counters_tell(struct model *m, uint64_t ts_ns)
{
	struct model_counter counter = {.id = COUNTER_RUNNABLE, .ts_ns = ts_ns};

	for (uint32_t i = 0; i < m->ndirty; i++) {
		struct cpu_state *c = &m->cpu[m->dirty[i]];

		c->dirty = false;
		if (c->runnable == c->reported)
			continue;
		c->reported = c->runnable;
		counter.cpu = m->dirty[i];
		counter.value = c->runnable;
		TELL(m, counter, &counter);
	}
	m->ndirty = 0;
}

static void interval_close(struct model *m, struct mthread *t, uint64_t ts_ns, enum thread_state as)
{
	uint64_t since_ns = t->pub.since_ns;

	if (ts_ns <= since_ns)
		return;
	t->pub.times.ns[as] += ts_ns - since_ns;
	t->pub.since_ns = ts_ns;
	m->interval_ended(m, t, since_ns, ts_ns, as);
	TELL(m, state, &t->pub, since_ns, ts_ns, as, t->pub.cpu);
}

/* Changes the state alone; interval_close() reports the time spent in the old one. */
static void state_change(struct model *m, struct mthread *t, enum thread_state s, uint16_t cpu)
{
	if (t->pub.state == THREAD_RUNNABLE)
		runnable_count(m, t->pub.cpu, -1);
	t->pub.state = s;
	t->pub.cpu = cpu;
	if (s == THREAD_RUNNABLE)
		runnable_count(m, cpu, 1);
}

static bool state_is_knowable(const struct model *m, const struct mthread *t, uint64_t ts_ns,
			      enum thread_state s, uint16_t cpu)
{
	if (s == THREAD_DEAD || s == THREAD_UNKNOWN)
		return true;
	if (ts_ns < t->track_since_ns)
		return false;
	return !m->gaps_open || (s == THREAD_RUNNING && !gap_blinds(m, cpu));
}

void state_set(struct model *m, struct mthread *t, uint64_t ts_ns, enum thread_state s,
	       uint16_t cpu)
{
	if (t->pub.state == THREAD_DEAD)
		return;
	if (!state_is_knowable(m, t, ts_ns, s, cpu))
		s = THREAD_UNKNOWN;
	if (s == t->pub.state && cpu == t->pub.cpu)
		return;
	if (s != t->pub.state)
		interval_close(m, t, ts_ns, t->pub.state);
	state_change(m, t, s, cpu);
}

/* Another record contradicts the state: it becomes UNKNOWN from the thread's last event on. */
static void state_refute(struct model *m, struct mthread *t, uint64_t ts_ns)
{
	if (t->pub.state == THREAD_UNKNOWN || t->pub.state == THREAD_DEAD)
		return;
	m->stats.contradictions++;
	interval_close(m, t, ts_ns, THREAD_UNKNOWN);
	state_change(m, t, THREAD_UNKNOWN, t->pub.cpu);
}

/* The thread other than t that, by the records so far, runs on this CPU; NULL: none. */
static struct mthread *cpu_other(const struct cpu_state *c, const struct mthread *t, uint16_t cpu)
{
	struct mthread *other = c->cur;

	return other && other != t && other->pub.state == THREAD_RUNNING && other->pub.cpu == cpu ?
		       other :
		       NULL;
}

/* Puts a thread on a CPU: another one cannot be there. */
static void cpu_take(struct model *m, struct cpu_state *c, struct mthread *t, uint64_t ts_ns,
		     uint16_t cpu)
{
	struct mthread *other = cpu_other(c, t, cpu);

	if (other)
		state_refute(m, other, ts_ns);
	c->cur = t;
}

void state_running_at(struct model *m, struct mthread *t, uint64_t ts_ns, uint16_t cpu)
{
	struct cpu_state *c = identity_cpu(m, cpu);
	const struct mthread *other = cpu_other(c, t, cpu);
	uint64_t from_ns;

	if (t->pub.state == THREAD_RUNNING && t->pub.cpu == cpu)
		return;
	if (t->pub.state == THREAD_DEAD)
		return;
	if (!state_is_knowable(m, t, ts_ns, THREAD_RUNNING, cpu)) {
		state_refute(m, t, ts_ns);
		t->pub.cpu = cpu;
		return;
	}
	/* it waited at least until the last switch there, which brought another thread */
	if (other && t->pub.state == THREAD_RUNNABLE)
		interval_close(m, t, other->pub.since_ns, THREAD_RUNNABLE);
	state_refute(m, t, ts_ns); /* no effect if it was UNKNOWN already */
	cpu_take(m, c, t, ts_ns, cpu);
	from_ns = c->quiet_since_ns ? c->quiet_since_ns : m->sched_since_ns;
	if (from_ns < t->track_since_ns)
		from_ns = t->track_since_ns;
	interval_close(m, t, from_ns < ts_ns ? from_ns : ts_ns, THREAD_UNKNOWN);
	state_change(m, t, THREAD_RUNNING, cpu);
}

/*
 * A wake-up may arrive between a thread's leaving the run queue and its switch. Then its record
 * comes first, and the thread went straight from blocked to runnable.
 */
static bool woken_in_flight(const struct mthread *t)
{
	return t->woken_running_ns && t->pub.since_ns - t->woken_running_ns < WAKE_FLIGHT_NS;
}

void state_enter(struct model *m, struct mthread *t, uint64_t ts_ns, uint16_t cpu, bool was_idle)
{
	struct cpu_state *c = identity_cpu(m, cpu);

	if (t->pub.state == THREAD_RUNNING)
		state_refute(m, t, ts_ns); /* by the records, it runs on another CPU */
	else if (t->pub.state == THREAD_BLOCKED && woken_in_flight(t) && !m->damaged)
		interval_close(m, t, ts_ns, THREAD_RUNNABLE);
	else if (t->pub.state == THREAD_BLOCKED && !t->pub.idle && (!was_idle || m->damaged))
		/* Its wake-up was not seen, so the time that it waited for this CPU is unknown. */
		state_refute(m, t, ts_ns);
	cpu_take(m, c, t, ts_ns, cpu);
	t->woken_running_ns = 0;
	state_set(m, t, ts_ns, THREAD_RUNNING, cpu);
	if (t->pub.state != THREAD_RUNNING)
		c->cur = NULL;
}

void state_move(struct model *m, struct mthread *t, uint16_t cpu)
{
	if (t->pub.state == THREAD_RUNNABLE) {
		runnable_count(m, t->pub.cpu, -1);
		runnable_count(m, cpu, 1);
	}
	if (t->pub.state != THREAD_RUNNING)
		t->pub.cpu = cpu;
}

void state_bury(struct model *m, struct mthread *t, uint64_t ts_ns)
{
	struct mprocess *p = mprocess_of(t->pub.proc);

	t->pub.end_ns = t->pub.since_ns = ts_ns;
	if (p->pub.end_ns < ts_ns)
		p->pub.end_ns = ts_ns;
	m->thread_ended(m, t);
	TELL(m, thread_exit, &t->pub, ts_ns);
}

void state_die(struct model *m, struct mthread *t, uint64_t ts_ns)
{
	if (t->pub.state == THREAD_DEAD)
		return;
	state_set(m, t, ts_ns, THREAD_DEAD, t->pub.cpu);
	state_bury(m, t, ts_ns);
}

/* Closes all intervals at the end of the recording; the states stay. */
void state_finish(struct model *m)
{
	for (uint32_t i = 0; i < m->nthreads; i++) {
		struct mthread *t = m->thread[i];

		if (!t->born)
			t->pub.end_ns = t->pub.start_ns; /* its birth was not replayed */
		if (!t->born || t->pub.state == THREAD_DEAD)
			continue;
		interval_close(m, t, m->info.end_ns, t->pub.state);
		t->pub.end_ns = t->pub.since_ns > m->info.end_ns ? t->pub.since_ns : m->info.end_ns;
	}
}
