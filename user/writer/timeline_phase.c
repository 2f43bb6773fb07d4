/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Phases that a program marks (abi/mark.h), on tracks of their own in its process: one a level, so that phases
 * need not nest with calls, nor be told before what happened in them.
 */
#include <stdlib.h>

#include "abi/mark.h"
#include "base/log.h"
#include "writer/timeline_priv.h"

/* Of one thread. */
struct tl_phases {
	struct {
		struct track *track;
		uint64_t begin_ns;
		char name[MARK_TEXT_BYTES];
		bool open;
	} level[POV_MARK_LEVELS];
};

static struct track *phase_track(struct timeline *tl, struct tl_thread *th, uint8_t level)
{
	const struct model_thread *t = th->model;
	bool main = t->proc && t->tid == t->proc->pid;
	uint32_t pid = th->track.pid;
	char *name;

	name = main ? xasprintf("phases %u", level) : xasprintf("phases %u of %u", level, t->tid);
	return tl_track_new(tl, TRACK_PHASE, pid, level, name);
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
		ph->level[level].track = phase_track(tl, th, level);
	args_reset(&tl->args);
	args_add_uint(&tl->args, "level", level);
	tl_track_add(tl, ph->level[level].track, &s, 0, false);
	tl->totals->phases++;
}

void tl_phase(struct timeline *tl, struct tl_thread *th, const struct model_call *c)
{
	const struct call_roles *r = &c->view->roles;
	struct tl_phases *ph = th->phases;

	if (!ph)
		ph = th->phases = xcalloc(1, sizeof(*ph));
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
