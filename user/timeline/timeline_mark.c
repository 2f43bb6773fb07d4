/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What lies beside the calls: phases of the program, findings, and ranks that failed. */
#include "timeline/timeline_priv.h"

#include <stdlib.h>
#include <string.h>

#include "abi/mark.h"
#include "analysis/finding.h"
#include "analysis/rank_ends.h"
#include "lib/log.h"
#include "lib/u64.h"

/* ---- phases ---- */

/*
 * Phases of a program on tracks of their own in its process: phases that it marks (abi/mark.h), one
 * track per level, and functions that are regions (model_region), one track per depth. So phases
 * need not nest with calls, nor be reported before the calls inside them.
 */

#define REGION_TRACKS 16 /* deeper nesting is not shown */

/* Phases of one thread. */
struct tl_phases {
	struct {
		struct track *track;
		uint64_t begin_ns;
		char name[MARK_TEXT_BYTES];
		bool open;
	} level[POV_MARK_LEVELS];
	struct track *region[REGION_TRACKS]; /* by depth */
};

/* order: levels first, then regions. */
static struct track *phase_track(struct timeline *tl, struct tl_thread *th, const char *what,
				 uint32_t number, uint32_t order)
{
	const struct model_thread *t = th->model;
	bool main = t->proc && t->tid == t->proc->pid;
	uint32_t pid = th->track.pid;
	char *name = main ? xasprintf("%s %u", what, number) :
			    xasprintf("%s %u of %u", what, number, t->tid);

	return tl_track_new(tl, TRACK_PHASE, pid, order, name);
}

static void phase_write(struct timeline *tl, struct tl_thread *th, uint8_t level, uint64_t end_ns,
			bool open)
{
	struct tl_phases *ph = th->phases;
	struct slice s = {.begin_ns = ph->level[level].begin_ns,
			  .end_ns = end_ns,
			  .open = open,
			  .name = ph->level[level].name,
			  .category = "phase",
			  .args = &tl->args};

	ph->level[level].open = false;
	if (end_ns < tl->from_ns || s.begin_ns > tl->to_ns)
		return;
	if (!ph->level[level].track)
		ph->level[level].track = phase_track(tl, th, "phases", level, level);
	args_reset(&tl->args);
	args_add_uint(&tl->args, "level", level);
	tl_track_add(tl, ph->level[level].track, &s, 0, false);
	tl->totals->phases++;
}

static struct tl_phases *phases_of(struct tl_thread *th)
{
	if (!th->phases)
		th->phases = xcalloc(1, sizeof(*th->phases));
	return th->phases;
}

void tl_phase(struct timeline *tl, struct tl_thread *th, const struct model_call *c)
{
	const struct call_roles *r = &c->view->roles;
	struct tl_phases *ph = phases_of(th);

	/* finer phases end with the one they are in */
	for (uint8_t l = POV_MARK_LEVELS; l-- > r->mark_level;) {
		if (ph->level[l].open)
			phase_write(tl, th, l, c->begin_ns, false);
	}
	if (r->mark != MARK_BEGIN)
		return;
	ph->level[r->mark_level].open = true;
	ph->level[r->mark_level].begin_ns = c->end_ns;
	snprintf(ph->level[r->mark_level].name, sizeof(ph->level[0].name), "%s", r->mark_name);
}

void tl_region(struct timeline *tl, struct tl_thread *th, const struct model_region *r)
{
	struct tl_phases *ph = phases_of(th);
	struct slice s = {.begin_ns = r->begin_ns,
			  .end_ns = r->end_ns,
			  .open = r->ended == REGION_OPEN,
			  .name = r->name,
			  .category = "region",
			  .args = &tl->args};

	if (r->depth >= REGION_TRACKS)
		return;
	/* inner ones end first, but their tracks come after those of the outer ones */
	for (uint32_t d = 0; d <= r->depth; d++)
		if (!ph->region[d])
			ph->region[d] = phase_track(tl, th, "regions", d, POV_MARK_LEVELS + d);
	args_reset(&tl->args);
	if (r->ended == REGION_UNWOUND)
		args_add_bool(&tl->args, "unwound", true);
	tl_track_add(tl, ph->region[r->depth], &s, 0, false);
	tl->totals->phases++;
}

void tl_phases_finish(struct timeline *tl, struct tl_thread *th)
{
	if (!th->phases)
		return;
	for (uint8_t l = 0; l < POV_MARK_LEVELS; l++) {
		if (th->phases->level[l].open)
			phase_write(tl, th, l, tl->opt.end_ns, true);
	}
}

void tl_phases_free(struct tl_thread *th)
{
	free(th->phases);
}

/* ---- findings ---- */

/*
 * Findings (analysis/finding.h) as a process of their own above the ranks. Each kind has one track,
 * the costliest first, and each finding one slice on it. The slice covers the finding's longest
 * part, or the whole recording if it is not tied to a time. Overlapping findings of a kind are put
 * on further tracks.
 */

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
	char *name;

	for (uint32_t lane = 0; lane < TIMELINE_FINDINGS_MAX; lane++) {
		uint32_t order = first * TIMELINE_FINDINGS_MAX + lane;
		struct track *t = tl_track_find(tl, TRACK_FINDING, TIMELINE_FINDINGS_PID, order);

		if (t && t->max_end_ns > begin_ns)
			continue;
		if (t)
			return t;
		name = lane ? xasprintf("%s (%u)", kind, lane + 1) : xstrdup(kind);
		for (char *at = name; (at = strchr(at, '_'));)
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
	int order = u64_compare(finding_begin_ns(ctx, a), finding_begin_ns(ctx, b));

	order = order ?: u64_compare(finding_end_ns(ctx, b), finding_end_ns(ctx, a));
	return order ?: u64_compare((uintptr_t)a, (uintptr_t)b);
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

/* ---- failed ranks ---- */

/*
 * Ranks that failed or did not finish (analysis/rank_ends.h): an instant at that time on the track
 * of the thread whose calls show the place.
 */

static void rank_end_write(struct timeline *tl, const struct rank_ends *e,
			   const struct rank_end *end)
{
	char *text = rank_end_text(e, end), *name = rank_end_short(end);
	struct slice s = {.begin_ns = end->at_ns, .name = name, .category = "end"};

	args_reset(&tl->args);
	args_add_text(&tl->args, "text", text);
	args_add_text(&tl->args, "kind", rank_end_kinds[end->kind]);
	tl_instant_write(tl, &tl_thread_of(tl, (struct model_thread *)end->thread)->track, &s);
	free(text);
	free(name);
}

void timeline_add_ends(struct timeline *tl, const struct rank_ends *e, const bool *shown)
{
	for (uint32_t i = 0; i < e->n; i++) {
		const struct rank_end *end = &e->end[i];

		if (end->kind != RANK_END_RUNNING && end->thread && shown[end->process->idx] &&
		    tl_in_window(tl, end->at_ns))
			rank_end_write(tl, e, end);
	}
}
