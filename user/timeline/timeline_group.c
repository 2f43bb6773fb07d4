/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Draws short calls together. A call shorter than the resolution begins a group. Calls that follow
 * on the same thread and begin within the resolution join it, including the calls inside them. The
 * group is one slice. For each function it gives the number of calls, their time and their bytes,
 * so nothing is missing from any sum. A thread thus has at most about two slices per resolution,
 * however fast it calls. A group of one is drawn as the call itself.
 * Never drawn together: calls without an end, and calls that were left without returning, failed or
 * mark a phase.
 */
#include "timeline/timeline_priv.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"

/* ---- arrows and counters ---- */

/*
 * With a resolution, arrows and counters are thinned out, too. Arrows with a longer call at either
 * end always stay. Between short calls, a thread keeps one arrow of each kind per resolution, and
 * none from a group to itself. Of a counter's values per resolution, the highest and the last one
 * stay.
 */

struct track_thin {
	uint64_t first_ns, max_ns, last_ns;
	int64_t max, last;
	uint64_t waiting; /* values not drawn yet */
};

bool tl_arrow_drawn(struct timeline *tl, const struct model_thread *from, enum arrow_kind kind,
		    uint64_t from_ns, bool brief)
{
	uint64_t *last_ns = &tl_thread_of(tl, (struct model_thread *)from)->arrow_ns[kind];
	uint64_t apart_ns = from_ns > *last_ns ? from_ns - *last_ns : *last_ns - from_ns;

	if (!brief)
		return true;
	if (*last_ns && apart_ns < tl->opt.resolution_ns) {
		tl->totals->arrows_hidden++;
		return false;
	}
	*last_ns = from_ns;
	return true;
}

static void counter_draw(struct timeline *tl, struct track *t, uint64_t ts_ns, int64_t value)
{
	tl->ops->counter(tl->ctx, t, ts_ns, value);
	tl->totals->counters++;
}

void tl_counter_flush(struct timeline *tl, struct track *t)
{
	struct track_thin *thin = t->thin;
	bool peak;

	if (!thin || !thin->waiting)
		return;
	peak = thin->max > thin->last;
	if (peak)
		counter_draw(tl, t, thin->max_ns, thin->max);
	counter_draw(tl, t, thin->last_ns, thin->last);
	tl->totals->counters_hidden += thin->waiting - 1 - peak;
	thin->waiting = 0;
}

void tl_counter_add(struct timeline *tl, struct track *t, uint64_t ts_ns, int64_t value)
{
	struct track_thin *thin = t->thin;

	if (!tl->opt.resolution_ns) {
		counter_draw(tl, t, ts_ns, value);
		return;
	}
	if (!thin)
		thin = t->thin = xcalloc(1, sizeof(*thin));
	if (thin->waiting && ts_ns - thin->first_ns >= tl->opt.resolution_ns)
		tl_counter_flush(tl, t);
	if (!thin->waiting++)
		*thin = (struct track_thin){
			.first_ns = ts_ns, .max_ns = ts_ns, .max = value, .waiting = 1};
	if (value > thin->max) {
		thin->max = value;
		thin->max_ns = ts_ns;
	}
	thin->last = value;
	thin->last_ns = ts_ns;
}

/* ---- calls ---- */

#define GROUP_FUNCTIONS 8
#define GROUP_NAMES 3

/* The calls of one function, including those inside others. */
struct group_of {
	const struct func_info *func;
	uint64_t calls;	      /* including empty polls */
	uint64_t empty_polls; /* polls that found nothing */
	uint64_t busy_ns;     /* sum of the calls' own durations */
	uint32_t sized;	      /* bit mask: which of bytes[] any of them has */
	uint64_t bytes[TL_BYTES];
};

struct tl_group {
	uint32_t members; /* calls and spins; 0: no group is pending */
	uint64_t begin_ns, last_begin_ns, end_ns;
	uint8_t depth;
	bool orphan;
	uint64_t busy_ns; /* without members that lie inside other members */
	struct state_times split;
	const char *activity; /* common to all members, or NULL */
	uint32_t nfuncs;
	struct group_of of[GROUP_FUNCTIONS]; /* sorted by id */
	/* the slice of the first call, in case it stays alone */
	struct slice first;
	struct writer_args args; /* args of `first` */
};

/* ---- facts that a group needs about a call ---- */

/* A call that began before the recording may be drawn shorter than it was. */
static bool span_is_brief(const struct timeline *tl, uint64_t begin_ns, uint64_t end_ns)
{
	return begin_ns >= tl->opt.start_ns && end_ns >= begin_ns &&
	       end_ns - begin_ns < tl->opt.resolution_ns;
}

static bool call_is_ordinary(const struct model_call *c)
{
	return !c->open && !c->unwound && !c->fault && !c->partial &&
	       !(c->view && (c->view->roles.error || c->view->roles.mark != MARK_NONE));
}

static const char *const bytes_name[TL_BYTES] = {"bytes", "send_bytes", "recv_bytes",
						 "status_bytes"};

/* A single number, or the sum over all requests that the call completed. */
static uint64_t value_sum(const struct call_value *v)
{
	if (v->kind != VALUE_INTS)
		return v->u;
	return table_sum(v->n, i, (uint64_t)v->ints[i]);
}

static void bytes_take(struct tl_brief *b, const struct call_value *v)
{
	bool counts = v->kind == VALUE_INT || v->kind == VALUE_UINT || v->kind == VALUE_INTS;

	for (uint32_t k = 0; k < TL_BYTES && counts; k++) {
		if (*v->name != *bytes_name[k] || strcmp(v->name, bytes_name[k]))
			continue;
		b->bytes[k] = value_sum(v);
		b->sized |= 1u << k;
	}
}

void tl_brief_from_call(const struct timeline *tl, const struct model_call *c, bool orphan,
			const char *activity, struct tl_brief *out)
{
	out->depth = c->depth;
	out->orphan = orphan;
	out->fits = span_is_brief(tl, c->begin_ns, c->end_ns) && call_is_ordinary(c);
	if (!out->fits)
		return;
	out->begin_ns = c->begin_ns;
	out->end_ns = c->end_ns;
	out->split = &c->split;
	out->activity = activity;
	out->sized = 0;
	for (uint32_t i = 0; c->view && i < c->view->nvalues; i++)
		bytes_take(out, &c->view->values[i]);
	out->empty_polls = false;
	out->nparts = 1;
	out->part[0] = (struct tl_brief_part){c->func, 1, c->end_ns - c->begin_ns};
}

void tl_brief_from_spin(const struct timeline *tl, const struct model_spin *sp, bool orphan,
			const char *activity, struct tl_brief *out)
{
	out->depth = sp->depth;
	out->orphan = orphan;
	out->fits = span_is_brief(tl, sp->begin_ns, sp->end_ns) && !sp->open && sp->nfuncs &&
		    sp->nfuncs <= TL_BRIEF_PARTS;
	if (!out->fits)
		return;
	out->begin_ns = sp->begin_ns;
	out->end_ns = sp->end_ns;
	out->split = &sp->split;
	out->activity = activity;
	out->sized = 0;
	out->empty_polls = true;
	out->nparts = sp->nfuncs;
	for (uint32_t i = 0; i < sp->nfuncs; i++)
		out->part[i] = (struct tl_brief_part){sp->func[i].func, sp->func[i].cnt,
						      sp->func[i].busy_ns};
}

/* ---- collecting ---- */

static struct group_of *group_find(struct tl_group *g, const struct func_info *func)
{
	return table_where(g->of, g->nfuncs, i, g->of[i].func == func);
}

/* Sorted by id, so that groups of the same functions have the same name and colour. */
static struct group_of *group_make(struct tl_group *g, const struct func_info *func)
{
	struct group_of *of = group_find(g, func);
	uint32_t at = g->nfuncs;

	if (of)
		return of;
	for (; at && g->of[at - 1].func->id > func->id; at--)
		g->of[at] = g->of[at - 1];
	g->of[at] = (struct group_of){.func = func};
	g->nfuncs++;
	return &g->of[at];
}

static bool group_has_room(struct tl_group *g, const struct tl_brief *b)
{
	return g->nfuncs + table_sum(b->nparts, i, !group_find(g, b->part[i].func)) <=
	       GROUP_FUNCTIONS;
}

static bool activity_is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void group_count(struct tl_group *g, const struct tl_brief *b)
{
	g->members++;
	for (uint32_t i = 0; i < b->nparts; i++) {
		const struct tl_brief_part *part = &b->part[i];
		struct group_of *of = group_make(g, part->func);

		of->calls += part->cnt;
		of->empty_polls += b->empty_polls ? part->cnt : 0;
		of->busy_ns += part->busy_ns;
		for (uint32_t k = 0; k < TL_BYTES; k++)
			of->bytes[k] += b->sized >> k & 1 ? b->bytes[k] : 0;
		of->sized |= b->sized;
	}
	if (!activity_is_same(g->activity, b->activity))
		g->activity = NULL;
}

/* Adds a call that is not inside another one. */
static void group_extend(struct tl_group *g, const struct tl_brief *b)
{
	g->last_begin_ns = b->begin_ns;
	g->end_ns = b->end_ns;
	for (uint32_t i = 0; i < b->nparts; i++)
		g->busy_ns += b->part[i].busy_ns;
	for (int state = 0; state < THREAD_STATE_CNT; state++)
		g->split.ns[state] += b->split->ns[state];
}

static bool group_contains(const struct tl_group *g, const struct tl_brief *b)
{
	return b->depth > g->depth && b->begin_ns >= g->last_begin_ns && b->end_ns <= g->end_ns;
}

static bool group_is_followed_by(const struct timeline *tl, const struct tl_group *g,
				 const struct tl_brief *b)
{
	return b->depth == g->depth && b->orphan == g->orphan && b->begin_ns >= g->end_ns &&
	       b->begin_ns - g->begin_ns < tl->opt.resolution_ns;
}

/* ---- drawing ---- */

static void args_add_values(struct writer_args *a, const struct group_of *of, const char *prefix)
{
	args_add_uint(a, args_keep(a, "%scount", prefix), of->calls);
	args_add_us(a, args_keep(a, "%sbusy_us", prefix), of->busy_ns);
	if (of->empty_polls)
		args_add_uint(a, args_keep(a, "%sempty_polls", prefix), of->empty_polls);
	for (uint32_t k = 0; k < TL_BYTES; k++)
		if (of->sized >> k & 1)
			args_add_int(a, args_keep(a, "%s%s", prefix, bytes_name[k]),
				     (int64_t)of->bytes[k]);
}

static struct group_of group_sum(const struct tl_group *g)
{
	struct group_of sum = {.busy_ns = g->busy_ns};

	for (uint32_t i = 0; i < g->nfuncs; i++) {
		sum.calls += g->of[i].calls;
		sum.empty_polls += g->of[i].empty_polls;
		for (uint32_t k = 0; k < TL_BYTES; k++)
			sum.bytes[k] += g->of[i].bytes[k];
		sum.sized |= g->of[i].sized;
	}
	return sum;
}

static const char *group_name(struct writer_args *a, const struct tl_group *g, uint64_t calls)
{
	const char *text = g->of[0].func->name;
	char cnt[TEXT_NUMBER_BYTES];

	for (uint32_t i = 1; i < g->nfuncs && i < GROUP_NAMES; i++)
		text = args_keep(a, "%s, %s", text, g->of[i].func->name);
	*text_count(cnt, calls) = 0;
	return args_keep(a, "%s%s \xc3\x97%s", text, g->nfuncs > GROUP_NAMES ? ", …" : "", cnt);
}

static void group_draw(struct timeline *tl, struct tl_thread *th, const struct tl_group *g)
{
	struct writer_args *a = &tl->args;
	struct group_of sum = group_sum(g);
	struct slice s = {.begin_ns = g->begin_ns,
			  .end_ns = g->end_ns,
			  .category = g->of[0].func->group,
			  .activity = g->activity,
			  .few_names = true,
			  .args = a};

	args_reset(a);
	s.name = group_name(a, g, sum.calls);
	args_add_us(a, "calls_below_us", tl->opt.resolution_ns);
	args_add_values(a, &sum, "");
	for (uint32_t i = 0; i < g->nfuncs && g->nfuncs > 1; i++)
		args_add_values(a, &g->of[i], args_keep(a, "%s_", g->of[i].func->name));
	if (tl->opt.sched_recorded)
		args_add_split(a, &g->split);
	tl_track_add(tl, &th->track, &s, g->depth, g->orphan);
	tl->totals->groups++;
	tl->totals->grouped += g->members;
}

void tl_group_flush(struct timeline *tl, struct tl_thread *th)
{
	struct tl_group *g = th->group;

	if (!g || !g->members)
		return;
	if (g->members == 1) {
		args_share(&tl->args, &g->args);
		g->first.args = &tl->args;
		tl_track_add(tl, &th->track, &g->first, g->depth, g->orphan);
	} else {
		group_draw(tl, th, g);
	}
	g->members = 0;
}

bool tl_group_join(struct timeline *tl, struct tl_thread *th, const struct tl_brief *b)
{
	struct tl_group *g = th->group;
	bool within;

	if (!g || !g->members)
		return false;
	within = b->fits && group_contains(g, b);
	if (b->fits && (within || group_is_followed_by(tl, g, b)) && group_has_room(g, b)) {
		group_count(g, b);
		if (!within)
			group_extend(g, b);
		return true;
	}
	tl_group_flush(tl, th);
	return false;
}

bool tl_group_begin(struct tl_thread *th, const struct slice *s, const struct tl_brief *b)
{
	struct tl_group *g = th->group;

	/* a call that is reported after calls inside it is drawn around them, never in a group */
	if (!b->fits || b->begin_ns < th->track.last_begin_ns)
		return false;
	if (!g)
		g = th->group = xcalloc(1, sizeof(*g));
	g->first = *s;
	if (!args_copy(&g->args, s->args) ||
	    (!s->func && !args_copy_text(&g->args, &g->first.name)))
		return false;
	g->members = g->nfuncs = 0;
	g->begin_ns = b->begin_ns;
	g->depth = b->depth;
	g->orphan = b->orphan;
	g->busy_ns = 0;
	g->split = (struct state_times){0};
	g->activity = b->activity;
	group_count(g, b);
	group_extend(g, b);
	return true;
}
