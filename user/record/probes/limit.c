/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Throttling is greedy: the costliest functions first, until the rest is below the aim. Returning
 * is the opposite: the cheapest first.
 */
#include "record/probes/limit.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

#define AIM (1 - LIMIT_SAMPLES) /* fraction of the limit to get below when throttling */
#define CALM 0.7		/* fraction of the limit to stay below with a returned function */
/* fraction of the limit below which throttling a function does not pay */
#define SMALL 0.05
#define CALM_LOOKS 3
#define CALM_LOOKS_MAX 48

void limit_init(struct limit *l, double pct, double counted_part, const bool *may_shed,
		uint32_t cnt)
{
	*l = (struct limit){.pct = pct, .counted_part = counted_part, .cnt = cnt};
	l->func = xcalloc(cnt + 1, sizeof(*l->func));
	for (uint32_t i = 0; i < cnt; i++)
		l->func[i].may_shed = may_shed[i];
}

void limit_release(struct limit *l)
{
	free(l->func);
	*l = (struct limit){0};
}

static struct limit_func *func_of(const struct limit *l, const struct limit_cost *c)
{
	return c->func < l->cnt ? &l->func[c->func] : NULL;
}

static bool is_detached(const struct limit *l, const struct limit_cost *c)
{
	const struct limit_func *f = func_of(l, c);

	return f && f->state == POV_LIMIT_DETACHED;
}

/* Sorts by process, costliest functions first. */
static int by_cost(const void *a, const void *b)
{
	const struct limit_cost *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	if (x->now_pct != y->now_pct)
		return x->now_pct > y->now_pct ? -1 : 1;
	return x->func < y->func ? -1 : x->func > y->func;
}

static size_t process_end(const struct limit_cost *cost, size_t n, size_t from)
{
	size_t i = from;

	while (i < n && cost[i].tgid == cost[from].tgid)
		i++;
	return i;
}

/*
 * Sums up the cost of one process, without sampling of detached functions, which has its own share.
 */
static double process_sum(const struct limit *l, const struct limit_cost *cost, size_t from,
			  size_t to)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += is_detached(l, &cost[i]) ? 0 : cost[i].now_pct;
	return sum;
}

struct looking {
	struct limit *l;
	struct limit_cost *cost;
	size_t n;
	struct limit_change *out;
	size_t out_cnt;
	struct limit_excess *excess;
};

/*
 * Throttles a function by one more step and returns what that saves. Another process may have
 * caused the same step already.
 */
static double function_shed(struct looking *k, const struct limit_cost *c, double sum)
{
	struct limit_func *f = func_of(k->l, c);
	uint8_t state;

	for (size_t i = 0; i < k->out_cnt; i++)
		if (k->out[i].func == c->func) {
			if (sum > k->out[i].pct) {
				k->out[i].pct = sum;
				k->out[i].tgid = c->tgid;
			}
			return k->out[i].state == POV_LIMIT_DETACHED ?
				       c->now_pct :
				       c->now_pct * (1 - k->l->counted_part);
		}
	if (f->state == POV_LIMIT_RECORDED) {
		f->need = !f->need		       ? CALM_LOOKS :
			  2 * f->need > CALM_LOOKS_MAX ? CALM_LOOKS_MAX :
							 2 * f->need;
	}
	f->calm = 0;
	state = f->state + 1;
	k->out[k->out_cnt++] = (struct limit_change){c->func, state, c->tgid, sum};
	return state == POV_LIMIT_DETACHED ? c->now_pct : c->now_pct * (1 - k->l->counted_part);
}

/*
 * Throttles functions of a process until its cost is below the aim. f->state is that of the
 * beginning of the look.
 */
static void process_shed(struct looking *k, size_t from, size_t to, double sum)
{
	double left = sum;
	bool done = false;

	for (size_t i = from; i < to && left > AIM * k->l->pct; i++) {
		const struct limit_cost *c = &k->cost[i];
		const struct limit_func *f = func_of(k->l, c);

		if (!f || !f->may_shed || f->state == POV_LIMIT_DETACHED ||
		    c->now_pct < SMALL * k->l->pct)
			continue;
		left -= function_shed(k, c, sum);
		done = true;
	}
	if (!done && sum > k->l->pct && sum > k->excess->pct)
		*k->excess = (struct limit_excess){k->cost[from].tgid, sum};
}

static void functions_shed(struct looking *k)
{
	double bound = k->l->pct * (k->l->detached ? AIM : 1), sum;
	size_t to;

	for (size_t from = 0; from < k->n; from = to) {
		to = process_end(k->cost, k->n, from);
		sum = process_sum(k->l, k->cost, from, to);
		if (sum > bound)
			process_shed(k, from, to, sum);
	}
}

/*
 * Returns true if all processes would be well below the limit with a function. Functions in `back`
 * count as recorded, too.
 */
static bool function_fits(const struct looking *k, uint16_t func, const bool *back)
{
	const struct limit *l = k->l;
	size_t to;

	for (size_t from = 0; from < k->n; from = to) {
		bool calls_it = false;
		double sum = 0;

		to = process_end(k->cost, k->n, from);
		for (size_t i = from; i < to; i++) {
			const struct limit_cost *c = &k->cost[i];
			bool as_recorded = c->func < l->cnt && (c->func == func || back[c->func]);

			calls_it |= c->func == func;
			sum += as_recorded ? c->full_pct : is_detached(l, c) ? 0 : c->now_pct;
		}
		if (calls_it && sum > CALM * l->pct)
			return false;
	}
	return true;
}

static double full_max(const struct looking *k, uint16_t func)
{
	double max = 0;

	for (size_t i = 0; i < k->n; i++)
		if (k->cost[i].func == func && k->cost[i].full_pct > max)
			max = k->cost[i].full_pct;
	return max;
}

/*
 * Returns the cheapest throttled function that has a known cost and was not tried yet; l->cnt if
 * there is none.
 */
static uint32_t returning_next(const struct looking *k, bool sampled, const bool *looked)
{
	uint32_t best = k->l->cnt;
	double best_pct = 0, pct;

	for (uint32_t i = 0; i < k->l->cnt; i++) {
		uint8_t state = k->l->func[i].state;

		if (looked[i] || state == POV_LIMIT_RECORDED ||
		    (state == POV_LIMIT_DETACHED && !sampled))
			continue;
		pct = full_max(k, (uint16_t)i);
		if (best == k->l->cnt || pct < best_pct) {
			best = i;
			best_pct = pct;
		}
	}
	return best;
}

static void functions_return(struct looking *k, bool sampled)
{
	bool *looked = xcalloc(k->l->cnt + 1, sizeof(*looked));
	bool *back = xcalloc(k->l->cnt + 1, sizeof(*back));
	uint32_t i;

	while ((i = returning_next(k, sampled, looked)) < k->l->cnt) {
		struct limit_func *f = &k->l->func[i];

		looked[i] = true;
		back[i] = function_fits(k, (uint16_t)i, back);
		f->calm = back[i] ? f->calm + 1 : 0;
		if (f->calm >= f->need)
			k->out[k->out_cnt++] = (struct limit_change){.func = (uint16_t)i,
								     .state = POV_LIMIT_RECORDED};
	}
	free(looked);
	free(back);
}

size_t limit_decide(struct limit *l, struct limit_cost *cost, size_t n, bool sampled,
		    struct limit_change *out, struct limit_excess *excess)
{
	struct looking k = {.l = l, .cost = cost, .n = n, .out = out, .excess = excess};

	*excess = (struct limit_excess){0};
	if (n)
		qsort(cost, n, sizeof(*cost), by_cost);
	functions_shed(&k);
	if (!k.out_cnt)
		functions_return(&k, sampled);
	for (size_t i = 0; i < k.out_cnt; i++) {
		struct limit_func *f = &l->func[out[i].func];

		l->detached += out[i].state == POV_LIMIT_DETACHED;
		l->detached -= f->state == POV_LIMIT_DETACHED;
		f->state = out[i].state;
	}
	return k.out_cnt;
}
