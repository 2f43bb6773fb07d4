/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Findings (analysis/finding.h) as a process of their own above the ranks. Each kind has one track,
 * the costliest first, and each finding one slice on it. The slice covers the finding's longest
 * part, or the whole recording if it is not tied to a time. Overlapping findings of a kind are put
 * on further tracks.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "analysis/finding.h"
#include "timeline/timeline_priv.h"

static uint64_t finding_begin_ns(const struct timeline *tl, const struct finding *f)
{
	return f->to_ns ? f->from_ns : tl->opt.start_ns;
}

static uint64_t finding_end_ns(const struct timeline *tl, const struct finding *f)
{
	return f->to_ns ? f->to_ns : tl->opt.end_ns;
}

/*
 * Returns a free track of a kind; NULL: too many overlap. first: number of the first finding of its
 * kind.
 */
static struct track *finding_track(struct timeline *tl, const char *kind, uint32_t first,
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

static void args_add_finding(struct timeline *tl, const struct findings *all,
			     const struct finding *f)
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
	struct slice s = {.begin_ns = finding_begin_ns(tl, f),
			  .end_ns = finding_end_ns(tl, f),
			  .name = f->text,
			  .category = "finding",
			  .activity = f->kind,
			  .args = &tl->args};
	struct track *t;

	if (s.end_ns < tl->from_ns || s.begin_ns > tl->to_ns)
		return;
	t = finding_track(tl, f->kind, first, s.begin_ns);
	if (!t) {
		tl->totals->findings_hidden++;
		return;
	}
	args_add_finding(tl, all, f);
	tl_track_add(tl, t, &s, 0, false);
	tl->totals->findings++;
}

/* In order of begin, as a track requires; at equal times, the longest first. */
static int place_compare(const void *va, const void *vb, void *ctx)
{
	const struct finding *a = *(const struct finding *const *)va;
	const struct finding *b = *(const struct finding *const *)vb;

	if (finding_begin_ns(ctx, a) != finding_begin_ns(ctx, b))
		return finding_begin_ns(ctx, a) < finding_begin_ns(ctx, b) ? -1 : 1;
	if (finding_end_ns(ctx, a) != finding_end_ns(ctx, b))
		return finding_end_ns(ctx, a) > finding_end_ns(ctx, b) ? -1 : 1;
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
