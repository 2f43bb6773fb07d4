/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Each possible event has a function do_…(), which acts on one CPU. It changes the truth and writes
 * the records that the kernel half would write.
 */
#include "unit/random_machine.h"
#include "unit/test.h"

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
		put_lost(&s->f, s->gap_begin[cpu], s->now, (uint16_t)cpu, POV_CLASS_SCHED,
			 s->lost[cpu]);
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
	int i, start = (int)rnd(s, TIDS), state = 0;

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
		state = prev->exiting ? DIES : rnd(s, 2) ? PREEMPTED : SLEEPS;
		for (i = 0; i < prev->depth; i++) {
			if (prev->call[i].announced)
				continue;
			prev->call[i].announced = true;
			if (!s->lossy || s->damaged || rnd(s, 3))
				put_call_begin(&s->f, s->now, (uint16_t)cpu, prev->tid,
					       prev->call[i].begin, i);
		}
	}
	if (next && next->cpu != cpu && !loses(s, cpu))
		put_migrate(&s->f, s->now, next->tid, next->cpu, (uint16_t)cpu);
	if (!loses(s, cpu))
		put_switch(&s->f, s->now, (uint16_t)cpu, prev ? prev->tid : 0, prev ? state : 0,
			   next ? next->tid : 0);
	if (prev)
		machine_to_state(s, prev,
				 prev->exiting	    ? GONE :
				 state == PREEMPTED ? QUEUE :
						      SLEEP);
	if (prev && prev->exiting)
		s->by_tid[prev->tid - FIRST_TID] = NULL;
	if (next) {
		machine_to_state(s, next, RUN);
		next->cpu = (uint16_t)cpu;
	}
	s->on_cpu[cpu] = next;
}

static void do_wake(struct machine *s, int cpu)
{
	struct life *t = s->by_tid[rnd(s, TIDS)], *waker = s->on_cpu[cpu];

	if (!t || (t == waker) || t->exiting)
		return;
	if (!loses(s, cpu))
		put_waking(&s->f, s->now, (uint16_t)cpu, waker ? waker->tid : 0, t->tid, t->cpu);
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
	put_fork(&s->f, s->now, parent->tid, t->tid, t->tgid, parent->tgid, "x");
	s->now += 1 + rnd(s, 3);
	t->cpu = (uint16_t)rnd(s, CPUS);
	if (!loses(s, cpu))
		put_waking(&s->f, s->now, (uint16_t)cpu, parent->tid, t->tid, t->cpu);
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
	put_spin(&s->f, t->spin_begin, s->now, t->cpu, t->tid, t->tgid, "MPI_Test", t->depth, 5, 1);
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

#define POSTING_ARGS 3

static void posting_put(struct machine *s, const struct life *t)
{
	uint32_t n = 1 + rnd(s, POSTS_MAX);
	size_t work_bytes = n * sizeof(struct pov_work);
	size_t head_at = sizeof(struct pov_call) + POSTING_ARGS * sizeof(uint64_t);
	size_t bytes = head_at + sizeof(struct pov_field) + work_bytes;
	struct pov_call *r = xcalloc(1, bytes);
	struct pov_field *head = (struct pov_field *)((uint8_t *)r + head_at);
	struct pov_work *work = (struct pov_work *)(head + 1);

	r->dur_ns = s->now - t->call[t->depth].begin;
	r->tgid = t->tgid;
	r->func = mfix_func("post_send");
	r->depth = (uint8_t)t->depth;
	r->nargs = POSTING_ARGS;
	r->cpu = t->cpu;
	*head = (struct pov_field){POV_FIELD_WORK, 1, (uint16_t)work_bytes, n};
	for (uint32_t i = 0; i < n; i++) {
		work[i] = (struct pov_work){.id = s->nposts, .bytes = rnd(s, 5000), .qp = 81};
		s->post[s->nposts++] = (struct post){.tid = t->tid,
						     .within = outermost_top(t),
						     .outermost = t->depth ? t->call[0].begin : 0,
						     .bytes = work[i].bytes};
	}
	put_record(&s->f, t->cpu, r, bytes, POV_KIND_CALL, t->tid, s->now);
	free(r);
}

static void call_end(struct machine *s, struct life *t, int flags)
{
	int d = --t->depth;
	uint64_t begin = t->call[d].begin;

	if (t->call[d].is_top || flags || s->nposts + POSTS_MAX > EVENTS_MAX)
		put_call(&s->f, begin, s->now, t->cpu, t->tid, t->tgid,
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

static void region_put(struct machine *s, const struct life *t, int depth, int flags)
{
	struct pov_region r = {.sp = (uint64_t)(100 - depth),
			       .tgid = t->tgid,
			       .region = (uint16_t)(depth % 2),
			       .cpu = t->cpu};

	r.hdr.flags = (uint8_t)flags;
	put_record(&s->f, t->cpu, &r, sizeof(r), POV_KIND_REGION, t->tid, s->now);
}

static void region_end(struct machine *s, struct life *t)
{
	int d = --t->regions;

	region_put(s, t, d, POV_REGION_END);
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
	region_put(s, t, t->regions++, 0);
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
	put_exit(&s->f, s->now, t->tid, t->tgid, 0);
	t->exiting = true;
}

void machine_run(struct machine *s, int steps)
{
	struct life *root;
	int i, cpu;

	s->now = START;
	root = life_new(s, ROOT_TID, ROOT_TID, RUN, 0);
	s->on_cpu[0] = root;
	put_task(&s->f, s->now, ROOT_TID, ROOT_TID, 0, 1, 0, "root");
	put_switch(&s->f, s->now, 1, 0, 0, 99); /* proves that switches are recorded from here on */
	put_switch(&s->f, s->now, 1, 99, SLEEPS, 0);
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
			put_lost(&s->f, s->gap_begin[cpu], s->now, (uint16_t)cpu, POV_CLASS_SCHED,
				 s->lost[cpu]);
	}
}
