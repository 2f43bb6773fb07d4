/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Each possible event has a function do_…(), which acts on one CPU. It changes the truth and writes
 * the records that the kernel half would write.
 */
#include "unit/random_machine.h"
#include "unit/test.h"

#define U(n) ((unsigned long long)(n))

static uint32_t rnd(struct machine *s, uint32_t n)
{
	s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(s->random >> 33) % n;
}

static struct state_times times_now(const struct machine *s, const struct life *t)
{
	struct state_times now = t->times;

	if (t->state != GONE)
		now.ns[t->state] += s->now - t->since;
	return now;
}

void machine_to_state(struct machine *s, struct life *t, int state)
{
	t->times = times_now(s, t);
	t->since = s->now;
	t->state = state;
	if (state == GONE)
		t->end = s->now;
}

/* ---- losing records ---- */

static bool loses(struct machine *s, int cpu)
{
	if (!s->lossy || s->damaged || !s->gap_begin[cpu] || rnd(s, 3))
		return false;
	s->lost[cpu]++;
	return true;
}

static void gap_put(struct machine *s, int cpu)
{
	mfix_put(&s->f, "lost ts=%llu since=%llu ring=%d class=sched cnt=%llu", U(s->now),
		 U(s->gap_begin[cpu]), cpu, U(s->lost[cpu]));
}

static void gaps_move(struct machine *s)
{
	int cpu = (int)rnd(s, CPUS);

	if (!s->lossy || s->damaged || rnd(s, 40))
		return;
	if (!s->gap_begin[cpu]) {
		s->gap_begin[cpu] = s->now;
		return;
	}
	if (s->lost[cpu])
		gap_put(s, cpu);
	s->gap_begin[cpu] = s->lost[cpu] = 0;
}

/* ---- events ---- */

static struct life *life_new(struct machine *s, uint32_t tid, uint32_t tgid, int state,
			     uint16_t cpu)
{
	struct life *t = &s->life[s->nlives++];

	*t = (struct life){.tid = tid,
			   .tgid = tgid,
			   .start = s->now,
			   .since = s->now,
			   .state = state,
			   .cpu = cpu};
	s->by_tid[tid - FIRST_TID] = t;
	return t;
}

static void do_switch(struct machine *s, int cpu)
{
	struct life *prev = s->on_cpu[cpu], *next = NULL, *t;
	int i, start = (int)rnd(s, TIDS);
	bool preempted = false;

	for (i = 0; i < TIDS && !next; i++) {
		t = s->by_tid[(start + i) % TIDS];
		if (t && t->state == QUEUE)
			next = t;
	}
	if (!prev && !next)
		return;
	if (!rnd(s, 5) && prev)
		next = NULL;
	if (prev) {
		preempted = !prev->exiting && rnd(s, 2);
		for (i = 0; i < prev->depth; i++) {
			if (prev->call[i].announced)
				continue;
			prev->call[i].announced = true;
			if (!s->lossy || s->damaged || rnd(s, 3))
				mfix_put(&s->f, "callbegin ts=%llu tid=%u begin=%llu depth=%d",
					 U(s->now), prev->tid, U(prev->call[i].begin), i);
		}
	}
	if (next && next->cpu != cpu && !loses(s, cpu))
		mfix_put(&s->f, "migrate ts=%llu tid=%u from=%d to=%d cpu=%d", U(s->now), next->tid,
			 next->cpu, cpu, next->cpu);
	if (!loses(s, cpu))
		mfix_put(&s->f, "switch ts=%llu cpu=%d prev=%u next=%u %s", U(s->now), cpu,
			 prev ? prev->tid : 0, next ? next->tid : 0,
			 !prev	       ? "" :
			 prev->exiting ? "state=0x80" :
			 preempted     ? "flags=preempted" :
					 "state=1");
	if (prev)
		machine_to_state(s, prev, prev->exiting ? GONE : preempted ? QUEUE : SLEEP);
	if (prev && prev->exiting)
		s->by_tid[prev->tid - FIRST_TID] = NULL;
	if (next) {
		machine_to_state(s, next, RUN);
		next->cpu = (uint16_t)cpu;
	}
	s->on_cpu[cpu] = next;
}

static void waking_put(struct machine *s, int cpu, uint32_t waker, const struct life *t)
{
	mfix_put(&s->f, "waking ts=%llu tid=%u target=%u cpu=%d target_cpu=%d", U(s->now), waker,
		 t->tid, cpu, t->cpu);
}

static void do_wake(struct machine *s, int cpu)
{
	struct life *t = s->by_tid[rnd(s, TIDS)], *waker = s->on_cpu[cpu];

	if (!t || (t == waker) || t->exiting)
		return;
	if (!loses(s, cpu))
		waking_put(s, cpu, waker ? waker->tid : 0, t);
	if (t->state == SLEEP)
		machine_to_state(s, t, QUEUE);
}

static void do_fork(struct machine *s, int cpu)
{
	struct life *parent = s->on_cpu[cpu], *t;
	uint32_t i = rnd(s, TIDS);
	bool process = rnd(s, 2);

	if (!parent || parent->exiting || s->by_tid[i] || s->nlives == LIVES_MAX)
		return;
	t = life_new(s, FIRST_TID + i, process ? FIRST_TID + i : parent->tgid, SLEEP, 0);
	mfix_put(&s->f, "fork ts=%llu tid=%u child=%u tgid=%u parent_tgid=%u comm=x", U(s->now),
		 parent->tid, t->tid, t->tgid, parent->tgid);
	s->now += 1 + rnd(s, 3);
	t->cpu = (uint16_t)rnd(s, CPUS);
	if (!loses(s, cpu))
		waking_put(s, cpu, parent->tid, t);
	machine_to_state(s, t, QUEUE);
}

static void event_add(struct machine *s, const struct life *t, enum event_kind kind, uint64_t begin,
		      const struct state_times *at)
{
	struct event *e = &s->event[s->nevents++];
	struct state_times now = times_now(s, t);
	int i;

	*e = (struct event){.tid = t->tid, .begin = begin, .end = s->now, .kind = kind};
	s->nregion_events += kind == REGION;
	for (i = 0; i < THREAD_STATE_CNT; i++)
		e->split.ns[i] = now.ns[i] - at->ns[i];
}

static void spin_stop(struct machine *s, struct life *t)
{
	if (!t->spinning)
		return;
	t->spinning = false;
	mfix_put(&s->f, "spin at=%llu..%llu cpu=%d tid=%u tgid=%u depth=%d funcs=MPI_Test:5:1",
		 U(t->spin_begin), U(s->now), t->cpu, t->tid, t->tgid, t->depth);
	event_add(s, t, SPIN, t->spin_begin, &t->at_spin);
	s->now++;
}

static uint64_t outermost_top(const struct life *t)
{
	for (int d = 0; d < t->depth; d++)
		if (t->call[d].is_top)
			return t->call[d].begin;
	return 0;
}

/* Puts a call that posts. A request's words: id, 0, bytes, queue pair 81 of no type. */
static void posting_put(struct machine *s, const struct life *t)
{
	uint32_t n = 1 + rnd(s, POSTS_MAX), bytes;
	char work[64 * POSTS_MAX] = "";

	for (uint32_t i = 0; i < n; i++) {
		bytes = rnd(s, 5000);
		sprintf(work + strlen(work), "%s%u,0,%u,81", i ? "," : "", s->nposts, bytes);
		s->post[s->nposts++] = (struct post){.tid = t->tid,
						     .within = outermost_top(t),
						     .outermost = t->depth ? t->call[0].begin : 0,
						     .bytes = bytes};
	}
	mfix_put(&s->f,
		 "call at=%llu..%llu cpu=%d tid=%u tgid=%u func=post_send depth=%d args=0,0,0 "
		 "work=1/%u:%s",
		 U(t->call[t->depth].begin), U(s->now), t->cpu, t->tid, t->tgid, t->depth, n, work);
}

static void call_end(struct machine *s, struct life *t, int flags)
{
	int d = --t->depth;
	uint64_t begin = t->call[d].begin;

	if (t->call[d].is_top || flags || s->nposts + POSTS_MAX > EVENTS_MAX)
		mfix_put(&s->f,
			 "call at=%llu..%llu cpu=%d tid=%u tgid=%u func=%s depth=%d flags=%d",
			 U(begin), U(s->now), t->cpu, t->tid, t->tgid,
			 t->call[d].is_top ? "MPI_Barrier" : "post_send", d, flags);
	else
		posting_put(s, t);
	event_add(s, t, CALL, begin, &t->call[d].at_begin);
}

static void do_call(struct machine *s, int cpu)
{
	struct life *t = s->on_cpu[cpu];
	int d;

	if (!t || t->exiting || s->nevents + 4 > EVENTS_MAX)
		return;
	spin_stop(s, t);
	d = t->depth;
	if (d < 3 && rnd(s, d ? 3 : 1) == 0) {
		t->call[d].begin = s->now;
		t->call[d].at_begin = times_now(s, t);
		t->call[d].announced = false;
		t->call[d].is_top = rnd(s, 2);
		t->depth++;
	} else if (d) {
		call_end(s, t, 0);
	}
}

static void region_put(struct machine *s, const struct life *t, int depth, const char *flags)
{
	mfix_put(&s->f, "region ts=%llu tid=%u tgid=%u sp=%d region=%d cpu=%d %s", U(s->now),
		 t->tid, t->tgid, 100 - depth, depth % 2, t->cpu, flags);
}

static void region_end(struct machine *s, struct life *t)
{
	int d = --t->regions;

	region_put(s, t, d, "flags=end");
	event_add(s, t, REGION, t->region[d].begin, &t->region[d].at_begin);
}

static void do_region(struct machine *s, int cpu)
{
	struct life *t = s->on_cpu[cpu];

	if (!t || t->exiting || t->depth || t->spinning || s->nevents + 8 > EVENTS_MAX)
		return;
	if (t->regions == REGION_DEPTH || (t->regions && rnd(s, 2))) {
		region_end(s, t);
		return;
	}
	t->region[t->regions].begin = s->now;
	t->region[t->regions].at_begin = times_now(s, t);
	region_put(s, t, t->regions++, "");
}

static void do_spin(struct machine *s, int cpu)
{
	struct life *t = s->on_cpu[cpu];

	if (!t || t->exiting || s->nevents + 4 > EVENTS_MAX)
		return;
	if (t->spinning) {
		spin_stop(s, t);
		return;
	}
	t->spinning = true;
	t->spin_begin = s->now;
	t->at_spin = times_now(s, t);
}

static void do_exit(struct machine *s, int cpu)
{
	struct life *t = s->on_cpu[cpu];

	if (!t || t->exiting || t->tid == ROOT_TID || rnd(s, 20))
		return;
	spin_stop(s, t);
	while (t->depth)
		call_end(s, t, POV_CALL_OPEN);
	while (t->regions)
		region_end(s, t);
	mfix_put(&s->f, "exit ts=%llu tid=%u tgid=%u", U(s->now), t->tid, t->tgid);
	t->exiting = true;
}

void machine_run(struct machine *s, int steps)
{
	struct life *root;
	int i, cpu;

	s->now = START;
	root = life_new(s, ROOT_TID, ROOT_TID, RUN, 0);
	s->on_cpu[0] = root;
	mfix_put(&s->f, "task ts=%llu tid=%u on_cpu=1 comm=root", U(s->now), ROOT_TID);
	/* proves that switches are recorded from here on */
	mfix_put(&s->f, "switch ts=%llu cpu=1 next=99", U(s->now));
	mfix_put(&s->f, "switch ts=%llu cpu=1 prev=99 state=1", U(s->now));
	for (i = 0; i < steps; i++) {
		s->now += 1 + rnd(s, rnd(s, 10) ? 20 : 500);
		cpu = (int)rnd(s, CPUS);
		gaps_move(s);
		if (s->damaged && i % 200 == 199)
			trace_writer_flush(s->f.writer, UINT64_MAX);
		switch (rnd(s, 10)) {
		case 0:
		case 1:
		case 2:
			do_switch(s, cpu);
			break;
		case 3:
			do_wake(s, cpu);
			break;
		case 4:
			do_fork(s, cpu);
			break;
		case 5:
		case 6:
			do_call(s, cpu);
			break;
		case 7:
			do_spin(s, cpu);
			break;
		case 8:
			do_exit(s, cpu);
			break;
		case 9:
			do_region(s, cpu);
			break;
		}
	}
	s->now += 10;
	for (cpu = 0; cpu < CPUS; cpu++) {
		if (s->gap_begin[cpu] && s->lost[cpu])
			gap_put(s, cpu);
	}
}
