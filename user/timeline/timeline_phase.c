/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Phases of a program, on tracks of their own in its process: those that it marks (abi/mark.h), a track a level, and its functions
 * that are regions (model_region), a track for each depth. So phases need not nest with calls, nor be told before
 * what happened in them.
 */
#include <stdlib.h>

#include "abi/mark.h"
#include "lib/log.h"
#include "timeline/timeline_priv.h"

#define REGION_TRACKS 16 /* what is nested deeper is not shown */

/* Of one thread. */
struct tl_phases {
	struct {
		struct track *track;
		uint64_t begin_ns;
		char name[MARK_TEXT_BYTES];
		bool open;
	} level[POV_MARK_LEVELS];
	struct track *region[REGION_TRACKS]; /* by depth */
};

/* order: behind the levels, regions. */
static struct track *phase_track(struct timeline *tl, struct tl_thread *th, const char *what,
				 uint32_t number, uint32_t order)
{
	const struct model_thread *t = th->model;
	bool main = t->proc && t->tid == t->proc->pid;
	uint32_t pid = th->track.pid;
	char *name;

	name = main ? xasprintf("%s %u", what, number) :
		      xasprintf("%s %u of %u", what, number, t->tid);
	return tl_track_new(tl, TRACK_PHASE, pid, order, name);
}

static void phase_tell(struct timeline *tl, struct tl_thread *th, uint8_t level, uint64_t end_ns,
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
			phase_tell(tl, th, l, c->begin_ns, false);
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
	/* inner ones end first, and come behind the outer ones all the same */
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
			phase_tell(tl, th, l, tl->opt.end_ns, true);
	}
}

void tl_phases_free(struct tl_thread *th)
{
	free(th->phases);
}
