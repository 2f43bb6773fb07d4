/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A made-up machine runs at random and keeps the truth; its records go through the model. Then:
 *  - nothing lost: the model's times of every thread, call and spin equal the truth;
 *  - records lost: they never exceed the truth in any known state (nothing is invented);
 *  - always: the times of each thread add up to its life, the shares of each CPU to the wall time, the split
 *    of each call to its duration, and the begin times of one thread's calls never go back;
 *  - each post is told once, in the order of its thread, with the call of MPI that it was made in or none; and regions as they were;
 *  - whoever asks what a thread did while a call was under way gets what the call's split says; and calls told in order of
 *    their begin are that, and all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/cores.h"
#include "analysis/time_split.h"
#include "base/log.h"
#include "unit/model_fixture.h"

#define CPUS 4
#define TIDS 40
#define FIRST_TID 100
#define ROOT_TID 100
#define THREADS_MAX 4000
#define EVENTS_MAX 60000
#define START 1000
#define REGION_DEPTH 3
#define POSTS_MAX 3 /* of a call */

enum { RUN = THREAD_RUNNING, QUEUE = THREAD_RUNNABLE, SLEEP = THREAD_BLOCKED, GONE = THREAD_DEAD };

/* One life of a tid. */
struct life {
	uint32_t tid, tgid;
	uint64_t start, end, since;
	int state;
	uint16_t cpu;
	struct state_times times;
	bool exiting;
	int depth; /* calls in flight */
	struct {
		uint64_t begin;
		struct state_times at_begin;
		bool announced, is_top;
	} call[4];
	int regions; /* under way, one in the other */
	struct {
		uint64_t begin;
		struct state_times at_begin;
	} region[REGION_DEPTH];
	bool spinning;
	uint64_t spin_begin;
	struct state_times at_spin;
	uint64_t last_begin; /* told by the model */
};

/* The truth about a call, spin or region, found again by thread, kind and begin. */
struct event {
	uint32_t tid;
	uint64_t begin, end;
	enum event_kind { CALL, SPIN, REGION } kind;
	bool told;
	struct state_times split;
};

/* The truth about a post: its number is the address of its buffer, which the layer gives its queue. */
struct post {
	uint32_t tid;
	uint64_t within;    /* begin of the outermost call of MPI around it; 0: none */
	uint64_t outermost; /* begin of the outermost call of all; 0: none */
	int64_t bytes;
	bool told;
};

struct machine {
	uint64_t random;
	uint64_t now;
	struct life life[THREADS_MAX];
	uint32_t nlives;
	struct life *by_tid[TIDS]; /* the living one */
	struct life *on_cpu[CPUS]; /* NULL: idle */
	struct event event[EVENTS_MAX];
	uint32_t nevents, nregion_events;
	struct post post[EVENTS_MAX];
	uint32_t nposts;
	struct mfix f;
	/* losses */
	bool lossy;			      /* records may be missing */
	bool damaged;			      /* because a block of the file is */
	uint64_t gap_begin[CPUS], lost[CPUS]; /* gap_begin 0: none open */
	uint64_t total_lost, lost_announcements;
	uint64_t known_running;		/* told by the model, over all threads but idle */
	uint64_t ordered, last_ordered; /* told in order of begin; begin of the last */
	uint64_t asked;			/* splits compared with segments */
};

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

static void to_state(struct machine *s, struct life *t, int state)
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
	s->total_lost++;
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

/* ---- what can happen ---- */

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
			if (s->lossy && !s->damaged && !rnd(s, 3))
				s->lost_announcements++;
			else
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
		to_state(s, prev, prev->exiting ? GONE : state == PREEMPTED ? QUEUE : SLEEP);
	if (prev && prev->exiting)
		s->by_tid[prev->tid - FIRST_TID] = NULL;
	if (next) {
		to_state(s, next, RUN);
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
		to_state(s, t, QUEUE);
}

static void do_fork(struct machine *s, int cpu)
{
	struct life *parent = s->on_cpu[cpu], *t;
	uint32_t i = rnd(s, TIDS);
	bool process = rnd(s, 2);

	if (!parent || parent->exiting || s->by_tid[i] || s->nlives == THREADS_MAX)
		return;
	t = life_new(s, FIRST_TID + i, process ? FIRST_TID + i : parent->tgid, SLEEP, 0);
	put_fork(&s->f, s->now, parent->tid, t->tid, t->tgid, parent->tgid, "x");
	s->now += 1 + rnd(s, 3);
	t->cpu = (uint16_t)rnd(s, CPUS);
	if (!loses(s, cpu))
		put_waking(&s->f, s->now, (uint16_t)cpu, parent->tid, t->tid, t->cpu);
	to_state(s, t, QUEUE);
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

static void posting_put(struct machine *s, const struct life *t)
{
	struct {
		struct pov_call call;
		uint64_t args[3];
		struct pov_field head;
		struct pov_work work[POSTS_MAX];
	} r = {.call = {.dur_ns = s->now - t->call[t->depth].begin,
			.tgid = t->tgid,
			.func = mfix_func("post_send"),
			.depth = (uint8_t)t->depth,
			.nargs = 3,
			.cpu = t->cpu}};
	uint32_t n = 1 + rnd(s, POSTS_MAX);

	r.head = (struct pov_field){POV_FIELD_WORK, 1, (uint16_t)(n * sizeof(r.work[0])), n};
	for (uint32_t i = 0; i < n; i++) {
		r.work[i] = (struct pov_work){.id = s->nposts, .bytes = rnd(s, 5000), .qp = 81};
		s->post[s->nposts++] = (struct post){.tid = t->tid,
						     .within = outermost_top(t),
						     .outermost = t->depth ? t->call[0].begin : 0,
						     .bytes = r.work[i].bytes};
	}
	put_record(&s->f, t->cpu, &r, sizeof(r) - (POSTS_MAX - n) * sizeof(r.work[0]),
		   POV_KIND_CALL, t->tid, s->now);
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

static void run(struct machine *s, int steps)
{
	struct life *root;
	int i, cpu;

	s->now = START;
	root = life_new(s, ROOT_TID, ROOT_TID, RUN, 0);
	s->on_cpu[0] = root;
	put_task(&s->f, s->now, ROOT_TID, ROOT_TID, 0, 1, 0, "root");
	put_switch(&s->f, s->now, 1, 0, 0, 99); /* proves that switches are seen from here on */
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

/* ---- what the model says of it ---- */

static struct life *life_of(struct machine *s, const struct model_thread *t)
{
	uint32_t i;

	for (i = 0; i < s->nlives; i++) {
		if (s->life[i].tid == t->tid && s->life[i].start == t->start_ns)
			return &s->life[i];
	}
	return NULL;
}

static void check_split(struct machine *s, const struct model_thread *t, enum event_kind kind,
			uint64_t begin, uint64_t end, const struct state_times *split)
{
	uint64_t sum = 0;
	uint32_t k;
	int i;

	for (i = 0; i < THREAD_STATE_CNT; i++)
		sum += split->ns[i];
	assert_int_equal(sum, end - begin);
	for (k = 0; k < s->nevents; k++) {
		struct event *e = &s->event[k];

		if (e->told || e->tid != t->tid || e->kind != kind || e->begin != begin ||
		    e->end != end)
			continue;
		e->told = true;
		for (i = RUN; i <= SLEEP; i++) {
			if (s->lossy)
				assert_true(split->ns[i] <= e->split.ns[i]);
			else
				assert_int_equal(split->ns[i], e->split.ns[i]);
		}
		return;
	}
	fail_msg("event of kind %d of %u at %llu..%llu was never made", kind, t->tid,
		 (unsigned long long)begin, (unsigned long long)end);
}

static void check_order(struct machine *s, const struct model_thread *t, uint64_t begin)
{
	struct life *l = life_of(s, t);

	assert_non_null(l);
	assert_true(begin >= l->last_begin);
	l->last_begin = begin;
}

#define SEGMENTS 4096

/* What the thread is said to have done meanwhile: in order, without overlap, and what the split has. */
static void check_segments(struct machine *s, const struct model_thread *t, uint64_t begin,
			   uint64_t end, const struct state_times *split)
{
	static struct model_segment seg[SEGMENTS];
	size_t n = model_segments(s->f.model, t, begin, end, seg, SEGMENTS);
	struct state_times sum = {0};
	uint64_t at = begin;

	assert_true(n < SEGMENTS && begin >= model_segments_since(s->f.model));
	for (size_t i = 0; i < n; i++) {
		assert_true(seg[i].from_ns >= at && seg[i].to_ns > seg[i].from_ns);
		assert_true(seg[i].to_ns <= end && seg[i].cpu < CPUS);
		sum.ns[seg[i].state] += seg[i].to_ns - seg[i].from_ns;
		at = seg[i].to_ns;
	}
	for (int i = RUN; i <= SLEEP && !s->lossy; i++)
		assert_int_equal(sum.ns[i], split->ns[i]);
	s->asked++;
}

static void ordered(struct machine *s, uint64_t begin)
{
	assert_true(s->lossy || begin >= s->last_ordered);
	s->last_ordered = begin;
	s->ordered++;
}

static void ordered_call(void *ctx, const struct model_call *c)
{
	assert_non_null(c->view);
	ordered(ctx, c->begin_ns);
}

static void ordered_spin(void *ctx, const struct model_spin *c)
{
	ordered(ctx, c->begin_ns);
}

static void told_call(void *ctx, const struct model_call *c)
{
	check_segments(ctx, c->thread, c->begin_ns, c->end_ns, &c->split);
	check_order(ctx, c->thread, c->begin_ns);
	check_split(ctx, c->thread, CALL, c->begin_ns, c->end_ns, &c->split);
}

static void told_spin(void *ctx, const struct model_spin *c)
{
	check_order(ctx, c->thread, c->begin_ns);
	check_split(ctx, c->thread, SPIN, c->begin_ns, c->end_ns, &c->split);
}

/* Of damaged files it is not known which end belongs to which begin. */
static void told_region(void *ctx, const struct model_region *r)
{
	struct machine *s = ctx;

	if (s->damaged || r->ended == REGION_UNDER_WAY || r->ended == REGION_OPEN)
		return;
	assert_int_equal(r->ended, REGION_RETURNED);
	check_split(s, r->thread, REGION, r->begin_ns, r->end_ns, &r->split);
}

/* The recording ended before the outermost call around it, of which there is no record then. */
static bool is_cut(const struct machine *s, const struct post *post)
{
	const struct life *l = s->by_tid[post->tid - FIRST_TID];

	return l && l->depth && l->call[0].begin == post->outermost;
}

static void told_post(void *ctx, const struct model_post *p)
{
	struct machine *s = ctx;
	struct life *l = life_of(s, p->call->thread);
	struct post *post = &s->post[p->post->id];

	assert_true(p->post->has_id && p->post->id < s->nposts);
	assert_false(post->told);
	post->told = true;
	assert_int_equal(p->call->thread->tid, post->tid);
	assert_int_equal(p->post->bytes, post->bytes);
	assert_true(p->post == p->call->view->posts || p->post->id == p->post[-1].id + 1);
	assert_int_equal(p->call->begin_ns, l->last_begin);
	if (s->damaged || is_cut(s, post))
		return;
	assert_false(p->within_unknown);
	assert_int_equal(p->within ? p->within->begin_ns : 0, post->within);
}

static void told_state(void *ctx, const struct model_thread *t, uint64_t from, uint64_t to,
		       enum thread_state state, uint16_t cpu)
{
	struct machine *s = ctx;

	(void)cpu;
	assert_true(from < to);
	if (state == THREAD_RUNNING && !t->idle)
		s->known_running += to - from;
}

static void check_threads(struct machine *s)
{
	uint64_t unknown = 0, total = 0;
	uint32_t i, found = 0;

	for (i = 0; i < model_thread_count(s->f.model); i++) {
		const struct model_thread *t = model_thread_get(s->f.model, i);
		uint64_t sum = 0;
		struct life *l;
		int k;

		for (k = 0; k < THREAD_STATE_CNT; k++)
			sum += t->times.ns[k];
		assert_int_equal(sum, t->end_ns - t->start_ns);
		if (t->idle || t->tid == 99)
			continue;
		l = life_of(s, t);
		assert_non_null(l);
		found++;
		if (l->state != GONE)
			to_state(s, l, l->state);
		for (k = RUN; k <= SLEEP; k++) {
			if (s->lossy)
				assert_true(t->times.ns[k] <= l->times.ns[k]);
			else
				assert_int_equal(t->times.ns[k], l->times.ns[k]);
		}
		unknown += t->times.ns[THREAD_UNKNOWN];
		total += sum;
	}
	assert_int_equal(found, s->nlives);
	if (s->lossy)
		assert_true(unknown < total); /* it does not give up either */
	else
		assert_int_equal(model_get_stats(s->f.model)->contradictions, 0);
}

static void check_cores(struct machine *s, const struct cores *cores)
{
	uint64_t shared = 0;
	uint32_t cpu, p;

	for (cpu = 0; cpu < CPUS; cpu++) {
		const struct core_row *c = &cores->core[cpu];
		uint64_t sum = 0;

		if (cpu >= cores->ncore || !c->seen)
			continue;
		for (p = 0; p < model_process_count(s->f.model); p++)
			sum += cores_share_ns(cores, p, cpu);
		assert_int_equal(sum, c->rank_ns + c->target_ns + c->other_ns);
		assert_int_equal(sum + c->idle_ns + c->unknown_ns, cores->wall_ns);
		shared += sum;
	}
	assert_int_equal(shared, s->known_running);
}

static void check_once(struct machine *s, const char *what)
{
	const struct model_sink own = {.ctx = s,
				       .call = told_call,
				       .spin = told_spin,
				       .call_by_begin = ordered_call,
				       .spin_by_begin = ordered_spin,
				       .region = told_region,
				       .post = told_post,
				       .state = told_state};
	struct time_split split;
	struct cores cores;
	const struct model_sink *sinks[3] = {&own, &split.sink, &cores.sink};
	uint32_t i;

	(void)what;
	time_split_init(&split);
	cores_init(&cores);
	s->known_running = s->ordered = s->last_ordered = s->asked = 0;
	for (i = 0; i < s->nevents; i++)
		s->event[i].told = false;
	for (i = 0; i < s->nposts; i++)
		s->post[i].told = false;
	for (i = 0; i < s->nlives; i++)
		s->life[i].last_begin = 0;
	assert_int_equal(model_run(s->f.model, sinks, 3), 0);
	for (i = 0; i < s->nevents && !s->damaged; i++)
		assert_true(s->event[i].told);
	for (i = 0; i < s->nposts && !s->damaged; i++)
		assert_true(s->post[i].told);
	assert_true(s->damaged || s->ordered == s->nevents - s->nregion_events);
	assert_int_equal(model_get_stats(s->f.model)->late_by_begin != 0 && !s->lossy, 0);
	assert_true(s->asked > s->nevents / 4 || s->nevents < 100 || s->damaged);
	check_threads(s);
	check_cores(s, &cores);
	time_split_release(&split);
	cores_release(&cores);
}

enum trouble { NO_TROUBLE, LOST_RECORDS, DAMAGED_FILE };

static void machine_test(uint64_t seed, enum trouble trouble, int steps)
{
	struct machine *s = xcalloc(1, sizeof(*s));
	int i;

	s->random = seed;
	s->lossy = trouble != NO_TROUBLE;
	s->damaged = trouble == DAMAGED_FILE;
	mfix_begin(&s->f,
		   "\"sched\":\"all\",\"rings\":4,\"cpus_per_ring\":1,\"regions\":[\"a\",\"b\"]");
	mfix_functions(&s->f);
	mfix_rank(&s->f, START, ROOT_TID, 0, "root");
	run(s, steps);
	mfix_end(&s->f, s->now);
	s->f.spoil = s->damaged ? seed * 7919 : 0;
	mfix_open(&s->f, true);
	for (i = 0; i < 2; i++) { /* a second pass must tell the same */
		struct model_stats first = *model_get_stats(s->f.model);
		uint64_t known_running = s->known_running;

		check_once(s, i ? "second pass" : "first pass");
		if (!i)
			continue;
		assert_int_equal(s->known_running, known_running);
		assert_int_equal(model_get_stats(s->f.model)->sched_gaps, first.sched_gaps);
		assert_int_equal(model_get_stats(s->f.model)->sched_gap_ns, first.sched_gap_ns);
	}
	if (s->damaged)
		assert_true(model_get_stats(s->f.model)->sched_gaps > 0);
	mfix_release(&s->f);
	free(s);
}

static void test_complete(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 8; seed++)
		machine_test(seed, NO_TROUBLE, 4000);
}

static void test_lossy(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 12; seed++)
		machine_test(seed, LOST_RECORDS, 4000);
}

static void test_damaged(void **state)
{
	uint64_t seed;

	(void)state;
	log_set_level(LOG_ERROR); /* it is told; here it is meant */
	for (seed = 1; seed <= 20; seed++)
		machine_test(seed, DAMAGED_FILE, 4000);
	log_set_level(LOG_INFO);
}

static void test_short(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 100; seed < 160; seed++)
		machine_test(seed, seed & 1 ? LOST_RECORDS : NO_TROUBLE, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_lossy),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
