/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See host_clocks.h. A line (offset and drift) is added to the times of a host to convert them to
 * those of its reference host.
 */
#include "analysis/host_clocks.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/log.h"
#include "lib/table.h"
#include "trace/trace_read.h"

/* ---- bounds ---- */

/*
 * For each drift b, the difference of the clocks at the first bound's time has a range. It extends
 * from the highest lower bound to the lowest upper bound, each projected to that time along b. The
 * width of this range is a concave function of b, so the functions below search along b.
 */

#define ROOM_MIN 64
#define STEPS 120
/* rounding of the times of a message's two ends */
#define ROUNDING_NS 2

/* ---- hulls ---- */

TABLE_ORDER(bound_compare, struct bound, table_compare(a->at_ns, b->at_ns),
	    table_compare(b->apart_ns, a->apart_ns))

/* b lies on or below the line from a to c. */
static bool is_below(const struct bound *a, const struct bound *b, const struct bound *c)
{
	return (b->apart_ns - a->apart_ns) * (c->at_ns - a->at_ns) <=
	       (c->apart_ns - a->apart_ns) * (b->at_ns - a->at_ns);
}

/* Keeps the corners of the upper hull: a line above all corners is above all bounds. */
static void hull_make(struct bounds *s)
{
	uint32_t n = 0;

	table_sort(s->bound, s->cnt, bound_compare);
	for (uint32_t i = 0; i < s->cnt; i++) {
		struct bound next = s->bound[i];

		if (n && s->bound[n - 1].at_ns == next.at_ns)
			continue;
		while (n > 1 && is_below(&s->bound[n - 2], &s->bound[n - 1], &next))
			n--;
		s->bound[n++] = next;
	}
	s->cnt = n;
}

static void bound_add(struct clock_bounds *c, struct bounds *s, uint64_t at_ns, int64_t apart_ns,
		      int sign)
{
	if (!c->least.messages && !c->most.messages) {
		c->first_ns = at_ns;
		c->first_apart_ns = apart_ns;
	}
	if (s->cnt == s->room) {
		hull_make(s);
		if (s->cnt * 2 >= s->room) {
			s->room = s->room ? s->room * 2 : ROOM_MIN;
			s->bound = xrealloc(s->bound, s->room * sizeof(*s->bound));
		}
	}
	s->bound[s->cnt++] = (struct bound){
		.at_ns = (double)(int64_t)(at_ns - c->first_ns),
		.apart_ns = sign *
			    (double)(int64_t)((uint64_t)apart_ns - (uint64_t)c->first_apart_ns),
	};
	s->messages++;
}

void clock_bounds_least(struct clock_bounds *c, uint64_t at_ns, int64_t apart_ns)
{
	bound_add(c, &c->least, at_ns, apart_ns, 1);
}

void clock_bounds_most(struct clock_bounds *c, uint64_t at_ns, int64_t apart_ns)
{
	bound_add(c, &c->most, at_ns, apart_ns, -1);
}

void clock_bounds_release(struct clock_bounds *c)
{
	free(c->least.bound);
	free(c->most.bound);
}

/* ---- lines of a given drift ---- */

/* The highest bound, projected along the drift to a time. */
static double bounds_highest(const struct bounds *s, double drift, double at_ns)
{
	double most = -INFINITY;

	for (uint32_t i = 0; i < s->cnt; i++)
		most = fmax(most, s->bound[i].apart_ns + drift * (at_ns - s->bound[i].at_ns));
	return most;
}

/* The least difference of the clocks at a time, for a given drift. */
static double least_at(const struct clock_bounds *c, double drift, double at_ns)
{
	return bounds_highest(&c->least, drift, at_ns);
}

static double most_at(const struct clock_bounds *c, double drift, double at_ns)
{
	return -bounds_highest(&c->most, -drift, at_ns);
}

static double clock_bounds_width(const struct clock_bounds *c, double drift, double at_ns)
{
	(void)at_ns; /* the width is the same at any time */
	return most_at(c, drift, 0) - least_at(c, drift, 0);
}

static double least_below(const struct clock_bounds *c, double drift, double at_ns)
{
	return -least_at(c, drift, at_ns);
}

/* ---- drifts ---- */

struct drifts {
	double low, high;
};

/* Finds the drift with the largest value of a concave function. */
static double drift_of_most(const struct clock_bounds *c, struct drifts d, double at_ns,
			    double (*f)(const struct clock_bounds *c, double drift, double at_ns))
{
	for (int i = 0; i < STEPS; i++) {
		double third = (d.high - d.low) / 3, a = d.low + third, b = d.high - third;

		if (f(c, a, at_ns) < f(c, b, at_ns))
			d.low = a;
		else
			d.high = b;
	}
	return (d.low + d.high) / 2;
}

/* The possible drift that is nearest to `other`, searched from a possible one. */
static double drift_edge(const struct clock_bounds *c, double possible, double other)
{
	if (clock_bounds_width(c, other, 0) >= 0)
		return other;
	for (int i = 0; i < STEPS; i++) {
		double mid = (possible + other) / 2;

		*(clock_bounds_width(c, mid, 0) >= 0 ? &possible : &other) = mid;
	}
	return possible;
}

/* How far the truth can be from a given difference at a time. */
static double truth_farthest(const struct clock_bounds *c, struct drifts possible, double at_ns,
			     double apart_ns)
{
	double most = most_at(c, drift_of_most(c, possible, at_ns, most_at), at_ns);
	double least = least_at(c, drift_of_most(c, possible, at_ns, least_below), at_ns);

	return fmax(most - apart_ns, apart_ns - least);
}

/* Finds the range of possible drifts. False: there is none. */
static bool drifts_possible(const struct clock_bounds *c, struct drifts *d, double *widest_ns)
{
	double drift;

	*d = (struct drifts){-CLOCK_BOUNDS_DRIFT_MAX, CLOCK_BOUNDS_DRIFT_MAX};
	drift = drift_of_most(c, *d, 0, clock_bounds_width);
	*widest_ns = clock_bounds_width(c, drift, 0);
	if (*widest_ns < 0)
		return false;
	d->low = drift_edge(c, drift, d->low);
	d->high = drift_edge(c, drift, d->high);
	return true;
}

static double since_first(const struct clock_bounds *c, uint64_t ns)
{
	return (double)(int64_t)(ns - c->first_ns);
}

/* How far the truth can be from a line (apart_ns, drift) that lies between the bounds. */
static double clock_bounds_uncertainty(const struct clock_bounds *c, uint64_t from_ns,
				       uint64_t to_ns, const struct clock_bounds_line *line)
{
	double from = since_first(c, from_ns), to = since_first(c, to_ns), widest;
	double apart = line->apart_ns - (double)c->first_apart_ns;
	struct drifts d;

	if (!drifts_possible(c, &d, &widest))
		return INFINITY;
	return fmax(truth_farthest(c, d, from, apart),
		    truth_farthest(c, d, to, apart + line->drift * (to - from))) +
	       ROUNDING_NS;
}

enum clock_bounds_state clock_bounds_line(const struct clock_bounds *c, uint64_t from_ns,
					  uint64_t to_ns, struct clock_bounds_line *out)
{
	double from = since_first(c, from_ns), widest;
	struct clock_bounds_line line = {0};
	struct drifts d;

	if (!c->least.messages || !c->most.messages)
		return CLOCK_BOUNDS_OPEN;
	if (!drifts_possible(c, &d, &widest)) {
		*out = (struct clock_bounds_line){.violated_ns = -widest / 2};
		return CLOCK_BOUNDS_CLOSED;
	}
	line.drift = (d.low + d.high) / 2;
	line.apart_ns = (double)c->first_apart_ns +
			(least_at(c, line.drift, from) + most_at(c, line.drift, from)) / 2;
	line.uncertainty_ns = clock_bounds_uncertainty(c, from_ns, to_ns, &line);
	*out = line;
	return CLOCK_BOUNDS_LINE;
}

/* ---- lines ---- */

/* A pair of hosts. */
struct pair {
	uint32_t low, high;
	uint64_t messages;
	/* bounds what must be added to the higher host's times */
	const struct clock_bounds *bounds;
	enum clock_bounds_state state;
	struct clock_bounds_line line;
};

/* ---- bounds ---- */

static void on_match(void *ctx, const struct match *m)
{
	uint32_t from = m->send.process->host_idx, to = m->recv.process->host_idx;
	uint64_t took_ns = m->recv.end_ns - m->send.begin_ns;
	struct host_clocks *a = ctx;

	if (m->assumed || from == to || !m->recv.completer)
		return;
	if (from < to)
		clock_bounds_least(map_make(&a->pairs, map_pair(from, to),
					    sizeof(struct clock_bounds)),
				   m->recv.end_ns, (int64_t)-took_ns);
	else
		clock_bounds_most(map_make(&a->pairs, map_pair(to, from),
					   sizeof(struct clock_bounds)),
				  m->send.begin_ns, (int64_t)took_ns);
}

void host_clocks_init(struct host_clocks *a)
{
	*a = (struct host_clocks){0};
	matches_init(&a->matches, on_match, a);
}

static void clock_bounds_free(void *bounds)
{
	clock_bounds_release(bounds);
	free(bounds);
}

void host_clocks_release(struct host_clocks *a)
{
	matches_release(&a->matches);
	map_free(&a->pairs, clock_bounds_free);
}

/* ---- a tree of hosts ---- */

struct search {
	uint64_t from_ns, to_ns;
	struct pair *pair; /* owned */
	uint32_t npairs;
	struct trace_clock_fit *host;
	bool *done; /* by host: its clock is settled; owned */
};

static void pairs_take(struct search *s, const struct host_clocks *a)
{
	const struct clock_bounds *c;
	uint64_t key;

	s->pair = xcalloc(a->pairs.cnt + 1, sizeof(*s->pair));
	for (size_t at = 0; (c = map_next(&a->pairs, &at, &key));) {
		struct pair *p = &s->pair[s->npairs++];

		p->low = (uint32_t)(key >> 32);
		p->high = (uint32_t)key;
		p->messages = c->least.messages + c->most.messages;
		p->bounds = c;
		p->state = clock_bounds_line(c, s->from_ns, s->to_ns, &p->line);
	}
}

/*
 * The pair with the smallest uncertainty that relates a host to a settled one. NULL: there is none.
 */
static const struct pair *pair_next(const struct search *s)
{
	const struct pair *best = NULL;

	for (const struct pair *p = s->pair; p < s->pair + s->npairs; p++)
		if (p->state == CLOCK_BOUNDS_LINE && s->done[p->low] != s->done[p->high] &&
		    (!best || p->line.uncertainty_ns < best->line.uncertainty_ns))
			best = p;
	return best;
}

/* Settles a host with its time of day, because no messages relate it to a settled host. */
static void host_leave(struct search *s, uint32_t host)
{
	struct trace_clock_fit *fit = &s->host[host];

	s->done[host] = true;
	for (const struct pair *p = s->pair; p < s->pair + s->npairs; p++)
		if ((p->low == host || p->high == host) && p->state == CLOCK_BOUNDS_CLOSED)
			fit->violated_ns = fmax(fit->violated_ns, p->line.violated_ns);
}

/*
 * Adds one pair's bounds on a host's clock, where the pair's other host is settled. They bound what
 * must be added to the host's times to convert them to the corrected times of the other host.
 */
static void bounds_take(struct clock_bounds *to, const struct search *s, const struct pair *p,
			uint32_t host, bool least)
{
	const struct bounds *b = least ? &p->bounds->least : &p->bounds->most;
	const struct trace_clock_fit *by = &s->host[host == p->high ? p->low : p->high];

	for (uint32_t i = 0; i < b->cnt; i++) {
		double apart_ns = least ? b->bound[i].apart_ns : -b->bound[i].apart_ns;
		uint64_t high_ns = p->bounds->first_ns + (uint64_t)llround(b->bound[i].at_ns);
		uint64_t low_ns = high_ns + (uint64_t)p->bounds->first_apart_ns +
				  (uint64_t)llround(apart_ns);
		uint64_t at_ns = host == p->high ? high_ns : low_ns;
		uint64_t other_ns = host == p->high ? low_ns : high_ns;
		double add_ns = (double)(int64_t)(other_ns - at_ns) + by->apart_ns +
				by->drift * (double)(int64_t)(other_ns - by->at_ns);

		if (least == (host == p->high))
			clock_bounds_least(to, at_ns, llround(ceil(add_ns)));
		else
			clock_bounds_most(to, at_ns, llround(floor(add_ns)));
	}
}

/* Collects the bounds from a host's messages with all settled hosts, or from one pair only. */
static void bounds_collect(struct clock_bounds *to, const struct search *s, uint32_t host,
			   const struct pair *only)
{
	for (const struct pair *p = s->pair; p < s->pair + s->npairs; p++) {
		bool has = p->low == host ? s->done[p->high] : p->high == host && s->done[p->low];

		if (!has || p->state == CLOCK_BOUNDS_CLOSED || (only && p != only))
			continue;
		bounds_take(to, s, p, host, true);
		bounds_take(to, s, p, host, false);
	}
}

/*
 * Settles a host from its messages with all settled hosts if these are consistent, else from the
 * pair's messages. The uncertainty is that of the pair.
 */
static void host_settle(struct search *s, const struct pair *pair)
{
	uint32_t host = s->done[pair->low] ? pair->high : pair->low;
	const struct trace_clock_fit *by = &s->host[host == pair->high ? pair->low : pair->high];
	struct clock_bounds own = {0}, all = {0};
	struct clock_bounds_line line, by_all;

	bounds_collect(&own, s, host, pair);
	bounds_collect(&all, s, host, NULL);
	if (clock_bounds_line(&own, s->from_ns, s->to_ns, &line) != CLOCK_BOUNDS_LINE) {
		host_leave(s, host); /* the drifts add up to more than is possible */
	} else {
		if (clock_bounds_line(&all, s->from_ns, s->to_ns, &by_all) == CLOCK_BOUNDS_LINE)
			line = by_all;
		s->done[host] = true;
		s->host[host] = (struct trace_clock_fit){
			.by = TRACE_CLOCK_MESSAGES,
			.host = by->host,
			.messages = pair->messages,
			.at_ns = s->from_ns,
			.apart_ns = line.apart_ns,
			.drift = line.drift,
			.uncertainty_ns = by->uncertainty_ns +
					  clock_bounds_uncertainty(&own, s->from_ns, s->to_ns,
								   &line),
		};
	}
	clock_bounds_release(&own);
	clock_bounds_release(&all);
}

void host_clocks_find(const struct host_clocks *a, uint32_t nhosts, const bool *given,
		      uint64_t from_ns, uint64_t to_ns, struct trace_clock_fit *out)
{
	struct search s = {
		.from_ns = from_ns,
		.to_ns = to_ns,
		.host = out,
		.done = xcalloc(nhosts, sizeof(*s.done)),
	};
	const struct pair *p;

	pairs_take(&s, a);
	for (uint32_t i = 0; i < nhosts; i++) {
		out[i] = (struct trace_clock_fit){
			.by = given[i] ? TRACE_CLOCK_GIVEN : TRACE_CLOCK_TIME_OF_DAY,
			.host = i,
		};
		s.done[i] = given[i];
	}
	for (uint32_t i = 0; i < nhosts; i++) {
		if (!s.done[i])
			host_leave(&s, i);
		while ((p = pair_next(&s)))
			host_settle(&s, p);
	}
	free(s.pair);
	free(s.done);
}

/* ---- reading ---- */

/* True if the correction of a clock exceeds the clock's uncertainty after it. */
static bool was_far_off(const struct trace_clock_fit *fit, double span_ns)
{
	return fmax(fabs(fit->apart_ns), fabs(fit->apart_ns + fit->drift * span_ns)) >
	       fit->uncertainty_ns;
}

/*
 * Matches the messages by the present clocks, and corrects the clocks by them. Sets *far_off if
 * some clock was far off.
 */
static int clocks_correct_once(struct trace *t, const bool *given, uint32_t cnt, bool *far_off)
{
	struct trace_clock_fit *fit = xcalloc(cnt, sizeof(*fit));
	const struct model_info *info;
	struct host_clocks clocks;
	const struct model_sink *const sink = &clocks.matches.sink;
	struct model *m = NULL;
	int err;

	host_clocks_init(&clocks);
	err = model_open(t, &(struct model_options){.roles_only = true}, &m);
	if (!err)
		err = model_run(m, &sink, 1);
	if (!err) {
		info = model_get_info(m);
		host_clocks_find(&clocks, cnt, given, info->start_ns, info->end_ns, fit);
		for (uint32_t i = 0; i < cnt; i++)
			*far_off |= was_far_off(&fit[i], (double)(info->end_ns - info->start_ns));
	}
	host_clocks_release(&clocks);
	model_close(m);
	if (!err)
		err = trace_join_correct(t, fit);
	free(fit);
	return err;
}

/*
 * If clocks are far off, messages of one host seem to be sent before another host joins the
 * communicator, and are not matched. The first pass finds the clocks without these messages. A
 * second pass, with the corrected clocks, matches them.
 */
static int clocks_correct(struct trace *t, const struct trace_source *source, uint32_t cnt)
{
	bool *given = xcalloc(cnt, sizeof(*given)), far_off = false;
	int err;

	for (uint32_t i = 0; i < cnt; i++)
		given[i] = source[i].offset_given;
	err = clocks_correct_once(t, given, cnt, &far_off);
	if (!err && far_off)
		err = clocks_correct_once(t, given, cnt, &far_off);
	free(given);
	return err;
}

int host_clocks_join(const struct trace_source *source, size_t cnt, struct trace **out)
{
	struct trace *t;
	int err = trace_join_open(source, cnt, &t);

	if (err)
		return err;
	if (cnt > 1)
		err = clocks_correct(t, source, (uint32_t)cnt);
	if (err)
		trace_close(t);
	else
		*out = t;
	return err;
}
