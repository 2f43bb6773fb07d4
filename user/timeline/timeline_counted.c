/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls that were counted and not recorded one by one (struct pov_counted). There is one slice for
 * everything that a thread counted before it reported the counts. It lies on a track of its own,
 * because other calls lie between the counted ones.
 */
#include <stdlib.h>

#include "lib/human.h"
#include "lib/log.h"
#include "timeline/timeline_priv.h"

#define FUNCTIONS_MAX 16 /* the most that a thread counts at once */
#define NAMES_MAX 3

struct counted_of {
	const struct func_info *func;
	uint64_t calls, busy_ns;
};

struct tl_counted {
	struct track *track;
	uint64_t begin_ns, end_ns;
	uint32_t cnt;
	struct counted_of of[FUNCTIONS_MAX];
};

static const char *counted_slice_name(struct timeline *tl, const struct tl_counted *c,
				      uint64_t calls)
{
	const char *text = c->of[0].func->name;

	for (uint32_t i = 1; i < c->cnt && i < NAMES_MAX; i++)
		text = args_keep(&tl->args, "%s, %s", text, c->of[i].func->name);
	return args_keep(&tl->args, "%s%s \xc3\x97%s", text, c->cnt > NAMES_MAX ? ", …" : "",
			 COUNT_TEXT(calls));
}

static struct track *counted_track_new(struct timeline *tl, const struct tl_thread *th)
{
	const struct model_thread *t = th->model;
	char *name = t->proc && t->tid == t->proc->pid ? xstrdup("counted calls") :
							 xasprintf("counted calls of %u", t->tid);

	return tl_track_new(tl, TRACK_COUNTED, th->track.pid, th->track.order, name);
}

static void counted_write(struct timeline *tl, struct tl_thread *th)
{
	struct tl_counted *c = th->counted;
	struct slice s = {.begin_ns = c->begin_ns,
			  .end_ns = c->end_ns,
			  .category = c->of[0].func->group,
			  .args = &tl->args};
	uint64_t calls = 0, busy_ns = 0;

	for (uint32_t i = 0; i < c->cnt; i++) {
		calls += c->of[i].calls;
		busy_ns += c->of[i].busy_ns;
	}
	args_reset(&tl->args);
	s.name = counted_slice_name(tl, c, calls);
	args_add_uint(&tl->args, "count", calls);
	args_add_us(&tl->args, "busy_us", busy_ns);
	for (uint32_t i = 0; i < c->cnt && c->cnt > 1; i++) {
		const char *name = c->of[i].func->name;

		args_add_uint(&tl->args, args_keep(&tl->args, "%s_count", name), c->of[i].calls);
		args_add_us(&tl->args, args_keep(&tl->args, "%s_busy_us", name), c->of[i].busy_ns);
	}
	if (!c->track)
		c->track = counted_track_new(tl, th);
	tl_track_add(tl, c->track, &s, 0, false);
	tl->totals->counted++;
	c->cnt = 0;
}

void tl_counted_add(struct timeline *tl, struct tl_thread *th, const struct model_counted *m)
{
	struct tl_counted *c = th->counted;
	uint32_t at;

	if (!c)
		c = th->counted = xcalloc(1, sizeof(*c));
	/* After a report, the thread starts counting anew. */
	if (c->cnt && (m->begin_ns >= c->end_ns || c->cnt == FUNCTIONS_MAX))
		counted_write(tl, th);
	if (!c->cnt || m->begin_ns < c->begin_ns)
		c->begin_ns = m->begin_ns;
	if (!c->cnt || m->end_ns > c->end_ns)
		c->end_ns = m->end_ns;
	/* merges calls inside other calls with the rest */
	for (at = 0; at < c->cnt && c->of[at].func != m->func; at++)
		;
	if (at == c->cnt)
		c->of[c->cnt++] = (struct counted_of){.func = m->func};
	c->of[at].calls += m->calls;
	c->of[at].busy_ns += m->busy_ns;
}

void tl_counted_finish(struct timeline *tl, struct tl_thread *th)
{
	if (th->counted && th->counted->cnt)
		counted_write(tl, th);
}
