/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Findings (finding/finding.h) as a process of their own above the ranks: one track for each kind, the costliest first, with a slice for
 * each finding where its longest part lies, or over the whole recording if it is at no certain time. Those of a kind that overlap
 * lie on further tracks.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "finding/finding.h"
#include "timeline/timeline_priv.h"

static uint64_t begin_of(const struct timeline *tl, const struct finding *f)
{
	return f->to_ns ? f->from_ns : tl->opt.start_ns;
}

static uint64_t end_of(const struct timeline *tl, const struct finding *f)
{
	return f->to_ns ? f->to_ns : tl->opt.end_ns;
}

/* A free track of a kind; NULL: too many overlap. first: number of the first finding of its kind. */
static struct track *track_of(struct timeline *tl, const char *kind, uint32_t first,
			      uint64_t begin_ns)
{
	char *name, *at;

	for (uint32_t lane = 0; lane < TIMELINE_FINDINGS_MAX; lane++) {
		uint32_t order = first * TIMELINE_FINDINGS_MAX + lane;
		struct track *t = tl_track_find(tl, TRACK_FINDING, TIMELINE_FINDINGS_PID, order);

		if (t && t->max_end_ns > begin_ns)
			continue;
		if (t)
			return t;
		name = lane ? xasprintf("%s (%u)", kind, lane + 1) : xstrdup(kind);
		for (at = name; (at = strchr(at, '_'));)
			*at = ' ';
		return tl_track_new(tl, TRACK_FINDING, TIMELINE_FINDINGS_PID, order, name);
	}
	return NULL;
}

static void values_add(struct timeline *tl, const struct findings *all, const struct finding *f)
{
	const struct model_process *p = NULL;

	args_reset(&tl->args);
	args_add_text(&tl->args, "kind", f->kind);
	args_add_us(&tl->args, "cost_us", f->cost_ns);
	if (f->process != FINDING_NOBODY)
		p = model_process_get(all->model, f->process);
	if (p)
		args_add_uint(&tl->args, "of_pid", p->out_pid);
	if (p && p->is_rank && p->rank >= 0)
		args_add_int(&tl->args, "of_rank", p->rank);
	if (f->advice)
		args_add_text(&tl->args, "advice", f->advice);
	if (!f->to_ns)
		args_add_bool(&tl->args, "at_no_certain_time", true);
}

static void finding_write(struct timeline *tl, const struct findings *all, const struct finding *f,
			  uint32_t first)
{
	struct slice s = {.begin_ns = begin_of(tl, f),
			  .end_ns = end_of(tl, f),
			  .name = f->text,
			  .category = "finding",
			  .activity = f->kind,
			  .args = &tl->args};
	struct track *t;

	if (s.end_ns < tl->from_ns || s.begin_ns > tl->to_ns)
		return;
	t = track_of(tl, f->kind, first, s.begin_ns);
	if (!t) {
		tl->totals->findings_hidden++;
		return;
	}
	values_add(tl, all, f);
	tl_track_add(tl, t, &s, 0, false);
	tl->totals->findings++;
}

/* In order of their begin, as a track demands it; of one time the longest first. */
static int place_compare(const void *va, const void *vb, void *ctx)
{
	const struct finding *a = *(const struct finding *const *)va;
	const struct finding *b = *(const struct finding *const *)vb;

	if (begin_of(ctx, a) != begin_of(ctx, b))
		return begin_of(ctx, a) < begin_of(ctx, b) ? -1 : 1;
	if (end_of(ctx, a) != end_of(ctx, b))
		return end_of(ctx, a) > end_of(ctx, b) ? -1 : 1;
	return a < b ? -1 : a > b;
}

void timeline_add_findings(struct timeline *tl, const struct findings *all)
{
	const struct finding **in_order = xcalloc(all->n + 1, sizeof(*in_order));
	uint32_t first;

	for (uint32_t i = 0; i < all->n; i++)
		in_order[i] = &all->finding[i];
	qsort_r(in_order, all->n, sizeof(*in_order), place_compare, tl);
	if (all->n)
		tl_own_process_tell(tl, TIMELINE_FINDINGS_PID, "Findings", -1);
	for (uint32_t i = 0; i < all->n; i++) {
		for (first = 0; strcmp(all->finding[first].kind, in_order[i]->kind);)
			first++;
		finding_write(tl, all, in_order[i], first);
	}
	free(in_order);
}
