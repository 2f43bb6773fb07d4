/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Replays the records of a random machine (random_machine.h) through the model and checks:
 *
 *  - nothing lost: the model's times of every thread, call and spin equal the truth;
 *  - records lost: they never exceed the truth in any known state (nothing is invented);
 *  - always: the times of each thread add up to its life, the shares of each CPU to the wall time,
 *    the split of each call to its duration; the begin times of one thread's calls never go back;
 *  - each post is reported once, in the order of its thread, with the MPI call around it, if any;
 *  - regions are reported as they were;
 *  - calls that are reported in order of their begin are in that order and complete.
 */
#include "unit/test.h"
#include "analysis/app_time.h"
#include "analysis/contests.h"
#include "analysis/cores.h"
#include "analysis/holders.h"
#include "analysis/time_split.h"
#include "unit/random_machine.h"

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

		if (e->reported || e->tid != t->tid || e->kind != kind || e->begin != begin ||
		    e->end != end)
			continue;
		e->reported = true;
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

static void call_at(void *ctx, const struct model_call *c)
{
	check_order(ctx, c->thread, c->begin_ns);
	check_split(ctx, c->thread, CALL, c->begin_ns, c->end_ns, &c->split);
}

static void told_spin(void *ctx, const struct model_spin *c)
{
	check_order(ctx, c->thread, c->begin_ns);
	check_split(ctx, c->thread, SPIN, c->begin_ns, c->end_ns, &c->split);
}

/* In damaged files, the end of a region may not belong to its begin. */
static void told_region(void *ctx, const struct model_region *r)
{
	struct machine *s = ctx;

	if (s->damaged || r->ended == REGION_UNDER_WAY || r->ended == REGION_OPEN)
		return;
	assert_int_equal(r->ended, REGION_RETURNED);
	check_split(s, r->thread, REGION, r->begin_ns, r->end_ns, &r->split);
}

/*
 * Whether the recording ended within the outermost call around the post. That call then has no
 * record.
 */
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
	assert_false(post->reported);
	post->reported = true;
	assert_int_equal(p->call->thread->tid, post->tid);
	assert_int_equal(p->post->bytes, post->bytes);
	assert_true(p->post == p->call->view->posts || p->post->id == p->post[-1].id + 1);
	assert_int_equal(p->call->begin_ns, l->last_begin);
	if (s->damaged || is_cut(s, post))
		return;
	assert_false(p->within_unknown);
	assert_int_equal(p->within ? p->within->begin_ns : 0, post->within);
}

static void state_at(void *ctx, const struct model_thread *t, uint64_t from, uint64_t to,
		     enum thread_state state, uint16_t cpu)
{
	struct machine *s = ctx;

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
			machine_to_state(s, l, l->state);
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
		assert_true(unknown < total); /* but the model does not give up */
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

/*
 * Compares contests, which processes calls as they end, with holders, which looks back. Both must
 * find the same sums.
 */
static void check_contests(struct machine *s, const struct contests *contests,
			   const struct holders *holders)
{
	uint32_t n, nheld;
	struct contest *c = contests_list(contests, &n);
	struct holder *held = holders_list(holders, s->f.model, &nheld);

	for (uint32_t i = 0; i < nheld; i++) {
		const struct model_thread *t = model_thread_get(s->f.model, held[i].waiter);
		uint64_t ns = 0;

		for (uint32_t k = 0; k < n; k++)
			if (c[k].waiter == t && c[k].holder->idx == held[i].thread)
				ns += c[k].ns;
		assert_int_equal(ns, t->proc->is_rank ? held[i].ns : 0);
	}
	free(held);
	free(c);
}

static void check_once(struct machine *s)
{
	const struct model_sink own = {.ctx = s,
				       .call = call_at,
				       .spin = told_spin,
				       .call_by_begin = ordered_call,
				       .spin_by_begin = ordered_spin,
				       .region = told_region,
				       .post = told_post,
				       .state = state_at};
	struct time_split split;
	struct cores cores;
	struct app_time app;
	struct contests contests;
	struct holders holders;
	const struct model_sink *sinks[] = {&own,      &split.sink,    &cores.sink,
					    &app.sink, &contests.sink, &holders.sink};
	uint32_t i;

	time_split_init(&split);
	cores_init(&cores);
	holders_init(&holders);
	app_time_init(&app, &holders);
	contests_init(&contests, &app.windows);
	s->known_running = s->ordered = s->last_ordered = 0;
	for (i = 0; i < s->nevents; i++)
		s->event[i].reported = false;
	for (i = 0; i < s->nposts; i++)
		s->post[i].reported = false;
	for (i = 0; i < s->nlives; i++)
		s->life[i].last_begin = 0;
	assert_int_equal(model_run(s->f.model, sinks, COUNT(sinks)), 0);
	for (i = 0; i < s->nevents && !s->damaged; i++)
		assert_true(s->event[i].reported);
	for (i = 0; i < s->nposts && !s->damaged; i++)
		assert_true(s->post[i].reported);
	assert_true(s->damaged || s->ordered == s->nevents - s->nregion_events);
	assert_int_equal(model_get_stats(s->f.model)->late_by_begin != 0 && !s->lossy, 0);
	check_threads(s);
	check_cores(s, &cores);
	if (!s->lossy)
		check_contests(s, &contests, &holders);
	holders_release(&holders);
	contests_release(&contests);
	app_time_release(&app);
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
	machine_run(s, steps);
	mfix_end(&s->f, s->now);
	s->f.spoil = s->damaged ? seed * 7919 : 0;
	mfix_open(&s->f, true);
	for (i = 0; i < 2; i++) { /* a second pass must report the same */
		struct model_stats first = *model_get_stats(s->f.model);
		uint64_t known_running = s->known_running;

		check_once(s);
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

TEST(complete)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		machine_test(seed, NO_TROUBLE, 4000);
}

TEST(lossy)
{
	for (uint64_t seed = 1; seed <= 12; seed++)
		machine_test(seed, LOST_RECORDS, 4000);
}

TEST(damaged)
{
	for (uint64_t seed = 1; seed <= 20; seed++)
		machine_test(seed, DAMAGED_FILE, 4000);
}

TEST(short)
{
	for (uint64_t seed = 100; seed < 160; seed++)
		machine_test(seed, seed & 1 ? LOST_RECORDS : NO_TROUBLE, 60);
}
