/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Follows a wait to its roots. The cost of a wait is a sum over time, called a weight. If several
 * members are missing, the weight is split into that many weights, which add up to it to the
 * nanosecond: floor((c + 0) / n) + … + floor((c + n − 1) / n) = c.
 */
#include <stdlib.h>

#include "analysis/causes_line.h"
#include "analysis/functions.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/u64.h"

#define STEPS_MAX 4096	/* stretches to follow for one wait, over all branches of its chain */
#define DELAYS_MAX 1024 /* states of a thread before a wait that are looked at */

struct weight {
	/*
	 * the weight is this wait's cost; NULL: it is part number `part` of `parts` of the weight
	 * `of`
	 */
	const struct causes_wait *wait;
	struct weight *of;
	uint32_t parts, part;
	uint64_t asked_ns, until_ns; /* argument and result of the last cost_until() */
};

/* Cost of a cause in the wait being followed: in total, or lost through others. */
struct share {
	/* the cost and its longest stretch; row_settle adds the calls */
	struct cause_worst found;
	uint64_t stretch_ns; /* length of the longest stretch */
	/* the root in the longest stretch; found.chain is its chain */
	const struct model_thread *thread;
};

enum { ALL, THROUGH, SHARES };

#define PLACES 8

/* The places with the most time, found by the algorithm "Space-Saving" of Metwally et al. */
struct places {
	struct {
		struct cause_place at;
		uint64_t ns;
	} row[PLACES];
};

/* Value in a map of causes. */
struct cause_row {
	struct cause cause;
	struct places in, before;
	uint64_t walk; /* number of the wait (causes.walks) that share belongs to */
	struct share share[SHARES];
};

/* What a thread did outside waits, and who had its core. */
struct activity {
	enum cause_kind kind;
	uint32_t other;
	bool delays; /* it was outside MPI, and slept or had no core */
};

/*
 * Delays of a late thread before the wait for it began. If it computes during the wait, these
 * delays are charged first.
 */
struct lag {
	bool known;
	uint64_t from_ns, to_ns; /* span in which delays are left */
	uint64_t ns;
};

static const struct activity unknown = {.kind = CAUSE_UNKNOWN, .other = CAUSE_NOBODY};

struct walk {
	struct causes *a;
	const struct causes_wait *wait;
	const struct model_thread *path[CAUSES_CHAIN_MAX];
	uint32_t npath, steps;
	uint32_t ntouched;
};

/* ---- cost ---- */

static uint64_t wait_cost_until(const struct causes_wait *w, uint64_t ts_ns)
{
	size_t n = table_first(0, w->steps, i, w->step[i].from_ns > ts_ns);
	const struct wait_step *s;

	if (!n)
		return 0;
	s = &w->step[n - 1];
	if (ts_ns >= s->to_ns)
		return s->before_ns + s->ns;
	return s->before_ns + (uint64_t)((unsigned __int128)s->ns * (ts_ns - s->from_ns) /
					 (s->to_ns - s->from_ns));
}

static uint64_t cost_until(struct weight *w, uint64_t ts_ns)
{
	if (w->asked_ns == ts_ns)
		return w->until_ns;
	w->asked_ns = ts_ns;
	w->until_ns = w->of ? (cost_until(w->of, ts_ns) + w->part) / w->parts :
			      wait_cost_until(w->wait, ts_ns);
	return w->until_ns;
}

/*
 * Cost of a stretch. It mostly begins where the previous one ended, so that cost_until() is cached.
 */
static uint64_t weight_cost(struct weight *w, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t until_from_ns = cost_until(w, from_ns);

	return cost_until(w, to_ns) - until_from_ns;
}

/* ---- charging ---- */

static struct cause_row *row_of(struct walk *k, struct map *in, uint32_t process,
				enum cause_kind kind, uint32_t other)
{
	uint64_t key = (uint64_t)process << 36 | (uint64_t)kind << 32 | other;
	struct cause_row *r = map_make(in, key, sizeof(*r));

	if (r->walk == k->a->walks)
		return r;
	r->cause.process = process;
	r->cause.kind = kind;
	r->cause.other = other;
	r->walk = k->a->walks;
	for (int i = 0; i < SHARES; i++)
		r->share[i] = (struct share){.found = {.how = k->wait->how, .from_ns = UINT64_MAX}};
	*table_row(k->a->touched, k->a->touched_room, k->ntouched) = r;
	k->ntouched++;
	return r;
}

static void chain_note(const struct walk *k, struct cause_worst *w)
{
	w->nchain = 0;
	if (k->wait->waiter)
		w->chain[w->nchain++] = k->wait->waiter->proc->idx;
	for (uint32_t i = 0; i < k->npath; i++)
		w->chain[w->nchain++] = k->path[i]->proc->idx;
}

static void share_add(const struct walk *k, struct share *s, uint64_t from_ns, uint64_t to_ns,
		      uint64_t ns)
{
	s->found.ns += ns;
	s->found.from_ns = u64_min(s->found.from_ns, from_ns);
	s->found.to_ns = u64_max(s->found.to_ns, to_ns);
	if (to_ns - from_ns <= s->stretch_ns)
		return;
	s->stretch_ns = to_ns - from_ns;
	s->thread = k->path[k->npath - 1];
	chain_note(k, &s->found);
}

static void walk_charge(struct walk *k, struct map *in, enum cause_kind kind, uint32_t other,
			uint64_t from_ns, uint64_t to_ns, uint64_t ns)
{
	struct cause_row *r;

	if (!ns)
		return;
	r = row_of(k, in, k->path[k->npath - 1]->proc->idx, kind, other);
	share_add(k, &r->share[ALL], from_ns, to_ns, ns);
	if (k->npath > 1)
		share_add(k, &r->share[THROUGH], from_ns, to_ns, ns);
}

/*
 * Charges a stretch to what the last thread of the path did (direct causes), and to why it was late
 * (root causes).
 */
static void charge_both(struct walk *k, struct activity did, struct activity why, uint64_t from_ns,
			uint64_t to_ns, struct weight *w)
{
	uint64_t ns = weight_cost(w, from_ns, to_ns);

	walk_charge(k, &k->a->roots, why.kind, why.other, from_ns, to_ns, ns);
	if (k->npath == 1)
		walk_charge(k, &k->a->direct[k->wait->how], did.kind, did.other, from_ns, to_ns,
			    ns);
}

/* Finds the root's first call after the stretch. */
static void after_find(const struct causes *a, const struct model_thread *t, struct cause_worst *w)
{
	struct line *l = &a->thread[t->idx].line[LINE_CALLS];
	const struct line_entry *e = line_find(l, w->to_ns);

	if (!e || e->from_ns < w->to_ns)
		e = e ? e + 1 : l->entry;
	if (!l->n || e == l->entry + l->n)
		return;
	w->after = e->func;
	w->after_ns = e->from_ns;
	w->after_site = e->site;
}

static const struct line_entry *call_at(const struct causes *a, const struct model_thread *t,
					uint64_t ts_ns)
{
	uint64_t until_ns = UINT64_MAX;

	return t->idx < a->nthread ?
		       line_at(&a->thread[t->idx].line[LINE_CALLS], ts_ns, &until_ns) :
		       NULL;
}

/* Finds the call that waited: that of the waiter, or that of the first member in a call. */
static void waits_in_find(const struct causes *a, const struct causes_wait *wait,
			  struct cause_worst *w)
{
	const struct line_entry *e = wait->waiter ? call_at(a, wait->waiter, w->from_ns) : NULL;

	for (uint32_t i = 0; !wait->waiter && !e && i < wait->members; i++) {
		if (wait->member[i].begin_ns > w->from_ns)
			break;
		e = call_at(a, wait->member[i].thread, w->from_ns);
	}
	if (!e)
		return;
	w->waits_in = e->func;
	w->waits_at = e->site;
}

bool cause_place_is(const struct cause_place *a, const struct cause_place *b)
{
	return a->func == b->func &&
	       ((!a->site.module && !b->site.module) || !site_compare(&a->site, &b->site));
}

/* Adds time at a place. Returns the place with the most time, and the first of equal ones. */
static struct cause_place places_add(struct places *p, const struct func_info *func,
				     const struct model_site *site, uint64_t ns)
{
	const struct cause_place at = {func, *site};
	uint32_t least = 0, most = 0, i = 0;

	while (i < PLACES && !cause_place_is(&p->row[i].at, &at))
		i++;
	for (uint32_t j = 1; i == PLACES && j < PLACES; j++)
		least = p->row[j].ns < p->row[least].ns ? j : least;
	if (i == PLACES) {
		i = least;
		p->row[i].at = at;
	}
	p->row[i].ns += ns;
	for (uint32_t j = 1; j < PLACES; j++)
		most = p->row[j].ns > p->row[most].ns ? j : most;
	return p->row[most].at;
}

static void worst_note(const struct share *s, struct cause_worst *w)
{
	if (s->found.ns > w->ns)
		*w = s->found;
}

static void row_settle(const struct causes *a, const struct causes_wait *wait, struct cause_row *r)
{
	struct cause *c = &r->cause;
	struct cause_worst *all = &r->share[ALL].found, *through = &r->share[THROUGH].found;

	after_find(a, r->share[ALL].thread, all);
	waits_in_find(a, wait, all);
	c->most_in = places_add(&r->in, all->waits_in, &all->waits_at, all->ns);
	c->most_before = places_add(&r->before, all->after, &all->after_site, all->ns);
	if (through->ns > c->farthest.ns) {
		after_find(a, r->share[THROUGH].thread, through);
		waits_in_find(a, wait, through);
	}
	c->ns += all->ns;
	c->through_ns += through->ns;
	c->cnt++;
	worst_note(&r->share[ALL], &c->worst);
	worst_note(&r->share[THROUGH], &c->farthest);
}

/* ---- what a thread did ---- */

static enum cause_kind kind_of(const struct line_entry *call, enum thread_state s)
{
	if (s == THREAD_RUNNABLE)
		return CAUSE_NO_CORE;
	if (call)
		return call->func ? CAUSE_MPI : CAUSE_POLLED;
	return s == THREAD_RUNNING ? CAUSE_COMPUTED :
	       s == THREAD_BLOCKED ? CAUSE_SLEPT :
				     CAUSE_OUTSIDE;
}

/*
 * What a thread did at from_ns if it was in no wait. Lowers *to_ns to when it did something else.
 */
static struct activity activity_at(struct causes *a, const struct model_thread *t, uint64_t from_ns,
				   uint64_t *to_ns)
{
	struct activity did = {.other = CAUSE_NOBODY};
	const struct model_thread *holder;
	const struct line_entry *call = line_at(&a->thread[t->idx].line[LINE_CALLS], from_ns,
						to_ns);
	enum thread_state state = line_state(a, t, from_ns, to_ns, &holder);

	did.kind = kind_of(call, state);
	if (holder)
		did.other = holder->proc->idx;
	did.delays = !call && (did.kind == CAUSE_NO_CORE || did.kind == CAUSE_SLEPT);
	return did;
}

/* ---- delays before anybody waited ---- */

/* End of the last entry of a track that ended at ts_ns or before; 0: none. */
static uint64_t last_end_ns(struct causes *a, const struct model_thread *t, enum line_track track,
			    uint64_t ts_ns)
{
	struct line *l = &a->thread[t->idx].line[track];
	const struct line_entry *e = line_find(l, ts_ns);

	while (e && e->to_ns > ts_ns)
		e = e > l->entry ? e - 1 : NULL;
	return e ? e->to_ns : 0;
}

/* How long a thread outside MPI slept or had no core. */
static uint64_t delays_sum(struct causes *a, const struct model_thread *t, uint64_t from_ns,
			   uint64_t to_ns)
{
	uint64_t sum_ns = 0, until_ns;

	for (int i = 0; i < DELAYS_MAX && from_ns < to_ns; i++, from_ns = until_ns) {
		until_ns = to_ns;
		if (activity_at(a, t, from_ns, &until_ns).delays)
			sum_ns += until_ns - from_ns;
	}
	return sum_ns;
}

/* The thread that waited for the last one of the path. */
static const struct model_thread *waiter_of(const struct walk *k)
{
	return k->npath > 1    ? k->path[k->npath - 2] :
	       k->wait->waiter ? k->wait->waiter :
				 k->wait->member[0].thread;
}

/*
 * Finds the delays of the path's last thread before since_ns, when the wait begins. Only delays
 * count that are later than the thread's last own wait and the last wait for it. The waiter's own
 * delays in that time are subtracted, because the waiter was late by them, too.
 */
static void lag_find(const struct walk *k, uint64_t since_ns, struct lag *lag)
{
	const struct model_thread *t = k->path[k->npath - 1], *waiter = waiter_of(k);
	struct line *calls = &k->a->thread[t->idx].line[LINE_CALLS];
	uint64_t waited_ns = last_end_ns(k->a, t, LINE_WAITS, since_ns),
		 awaited_ns = last_end_ns(k->a, t, LINE_AWAITED, since_ns), from_ns;

	lag->known = true;
	lag->to_ns = since_ns;
	if (!calls->n)
		return;
	lag->from_ns = u64_max(u64_max(waited_ns, awaited_ns), calls->entry[0].to_ns);
	lag->ns = delays_sum(k->a, t, lag->from_ns, since_ns);
	if (!lag->ns || waiter->idx >= k->a->nthread)
		return;
	from_ns = u64_max(lag->from_ns, last_end_ns(k->a, waiter, LINE_WAITS, since_ns));
	lag->ns = u64_minus(lag->ns, delays_sum(k->a, waiter, from_ns, since_ns));
}

/*
 * Takes up to *ns from the first delay that is left. Lowers *ns to what it took. False: no delay is
 * left.
 */
static bool lag_take(const struct walk *k, struct lag *lag, struct activity *delay, uint64_t *ns)
{
	uint64_t until_ns;

	while (lag->ns && lag->from_ns < lag->to_ns) {
		until_ns = lag->to_ns;
		*delay = activity_at(k->a, k->path[k->npath - 1], lag->from_ns, &until_ns);
		if (delay->delays) {
			*ns = u64_min(*ns, u64_min(lag->ns, until_ns - lag->from_ns));
			lag->ns -= *ns;
			lag->from_ns += *ns;
			return true;
		}
		lag->from_ns = until_ns;
	}
	return false;
}

/*
 * Charges what the last thread of the path did from from_ns on, while it was in no wait. Lowers
 * *to_ns to the time at which it did something else. What it computed would have been done earlier
 * without its delays before the wait.
 */
static void activity_charge(struct walk *k, struct lag *lag, uint64_t since_ns, uint64_t from_ns,
			    uint64_t *to_ns, struct weight *w)
{
	const struct model_thread *t = k->path[k->npath - 1];
	struct activity did = activity_at(k->a, t, from_ns, to_ns), delay;
	uint64_t ns, known_ns = u64_max(k->a->start_ns, k->a->thread[t->idx].since_ns);

	if (from_ns < known_ns) {
		did = unknown;
		*to_ns = u64_min(*to_ns, known_ns);
	}
	if (did.kind == CAUSE_COMPUTED && !lag->known)
		lag_find(k, since_ns, lag);
	for (; did.kind == CAUSE_COMPUTED && from_ns < *to_ns; from_ns += ns) {
		ns = *to_ns - from_ns;
		if (!lag_take(k, lag, &delay, &ns))
			break;
		charge_both(k, did, delay, from_ns, from_ns + ns, w);
	}
	if (from_ns < *to_ns)
		charge_both(k, did, did, from_ns, *to_ns, w);
}

static void wait_follow(struct walk *k, const struct model_thread *t, uint64_t from_ns,
			uint64_t to_ns, struct weight *w);

/* Follows the missing members of a wait, each for an equal part. */
static void follow_wait(struct walk *k, const struct causes_wait *wait, uint64_t from_ns,
			uint64_t to_ns, struct weight *w)
{
	uint32_t first = 0;

	for (uint64_t until_ns; from_ns < to_ns; from_ns = until_ns) {
		while (wait->member[first].begin_ns <= from_ns)
			first++;
		until_ns = wait->member[first].begin_ns < to_ns ? wait->member[first].begin_ns :
								  to_ns;
		for (uint32_t i = first; i < wait->members; i++) {
			const struct model_thread *t = wait->member[i].thread;
			struct weight part = {
				.of = w, .parts = wait->members - first, .part = i - first};

			if (k->npath == 1)
				walk_charge(k, &k->a->direct[k->wait->how], CAUSE_WAITED,
					    t->proc->idx, from_ns, until_ns,
					    weight_cost(&part, from_ns, until_ns));
			wait_follow(k, t, from_ns, until_ns, &part);
		}
	}
}

static bool is_on_path(const struct walk *k, const struct model_thread *t)
{
	for (uint32_t i = 0; i < k->npath; i++)
		if (k->path[i] == t)
			return true;
	return false;
}

static void wait_follow(struct walk *k, const struct model_thread *t, uint64_t from_ns,
			uint64_t to_ns, struct weight *w)
{
	struct causes_thread *c = table_row(k->a->thread, k->a->nthread, t->idx);
	const uint64_t since_ns = from_ns;
	struct lag lag = {.known = !causes_charges_delays(k->wait, from_ns, to_ns)};

	if (k->npath == CAUSES_CHAIN_MAX || k->steps >= STEPS_MAX || is_on_path(k, t)) {
		charge_both(k, unknown, unknown, from_ns, to_ns, w);
		return;
	}
	c->asked_ns = u64_max(c->asked_ns, to_ns);
	k->path[k->npath++] = t;
	for (uint64_t until_ns; from_ns < to_ns; from_ns = until_ns) {
		const struct line_entry *e;

		k->steps++;
		until_ns = to_ns;
		e = line_at(&k->a->thread[t->idx].line[LINE_WAITS], from_ns, &until_ns);
		if (e) {
			follow_wait(k, e->wait, from_ns, until_ns, w);
			lag = (struct lag){.known = true};
		} else {
			activity_charge(k, &lag, since_ns, from_ns, &until_ns, w);
		}
	}
	k->npath--;
}

void causes_follow(struct causes *a, const struct causes_queued *q)
{
	const struct wait_member *m = &q->wait->member[q->member];
	struct weight w = {.wait = q->wait};
	struct walk k = {.a = a, .wait = q->wait};

	a->walks++;
	wait_follow(&k, m->thread, q->wait->step[0].from_ns, m->begin_ns, &w);
	for (uint32_t i = 0; i < k.ntouched; i++)
		row_settle(a, q->wait, a->touched[i]);
}

TABLE_ORDER(cause_compare, struct cause, u64_compare(a->process, b->process),
	    u64_compare(b->ns, a->ns), u64_compare(a->kind, b->kind),
	    u64_compare(a->other, b->other))

struct cause *causes_list(const struct map *of, uint32_t *n)
{
	struct cause *list = xmalloc((of->cnt + 1) * sizeof(*list));
	const struct cause_row *r;

	*n = 0;
	for (size_t at = 0; (r = map_next(of, &at, NULL));)
		list[(*n)++] = r->cause;
	qsort(list, *n, sizeof(*list), cause_compare);
	return list;
}
