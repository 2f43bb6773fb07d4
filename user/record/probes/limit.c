/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Giving up is greedy, costliest first, until what is left lies below the aim; coming back the other way round. */
#include "record/probes/limit.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

#define AIM (1 - LIMIT_SAMPLES) /* of the limit, to get below … */
#define CALM 0.7		/* … and to be below with what comes back */
#define SMALL 0.05		/* of the limit: to give such a function up is no gain */
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

/* By process, costliest first. */
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

/* Of one process. What samples cost has a share of its own. */
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

/* What giving it up by one more step saves. It may have been done already, for another process. */
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

/* What can be done about a process; f->state is as it was when the look began. */
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

static void give_up(struct looking *k)
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

/* Whether all processes would be well below the limit with a function; those of `back` are taken as recorded, too. */
static bool fits(const struct looking *k, uint16_t func, const bool *back)
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

/* The cheapest of those that are given up, known this time, and not looked at yet; l->cnt: there is none. */
static uint32_t next_back(const struct looking *k, bool sampled, const bool *looked)
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

static void come_back(struct looking *k, bool sampled)
{
	bool *looked = xcalloc(k->l->cnt + 1, sizeof(*looked));
	bool *back = xcalloc(k->l->cnt + 1, sizeof(*back));
	uint32_t i;

	while ((i = next_back(k, sampled, looked)) < k->l->cnt) {
		struct limit_func *f = &k->l->func[i];

		looked[i] = true;
		back[i] = fits(k, (uint16_t)i, back);
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
	give_up(&k);
	if (!k.out_cnt)
		come_back(&k, sampled);
	for (size_t i = 0; i < k.out_cnt; i++) {
		struct limit_func *f = &l->func[out[i].func];

		l->detached += out[i].state == POV_LIMIT_DETACHED;
		l->detached -= f->state == POV_LIMIT_DETACHED;
		f->state = out[i].state;
	}
	return k.out_cnt;
}
