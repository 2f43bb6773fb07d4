/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the place of each slice on its track: keeps the stack of open slices and lets no two of
 * them overlap partially. A healthy recording never requires that. In a damaged one, the later
 * slice becomes an instant at its begin that carries its duration, and is counted. Times are never
 * bent to fit.
 */
#include <stdlib.h>

#include "lib/log.h"
#include "lib/table.h"
#include "timeline/timeline_priv.h"

#define LATE_DEPTHS 8

/*
 * Children whose parent has not been reported yet. below[d]: the interval of those deeper than d.
 */
struct track_late {
	bool any;
	uint64_t solid_end_ns; /* end of everything reported before them */
	struct {
		uint64_t begin_ns, end_ns;
	} below[LATE_DEPTHS];
};

static void track_pop(struct timeline *tl, struct track *t)
{
	const struct track_slice *top = &t->stack[--t->depth];

	if (top->end_ns != UINT64_MAX && tl->ops->slice_end)
		tl->ops->slice_end(tl->ctx, t, top->end_ns);
}

/*
 * Ends slices that have ended before begin_ns. False if the new slice would stick out of another.
 */
static bool track_place(struct timeline *tl, struct track *t, uint64_t begin_ns, uint64_t end_ns,
			uint8_t depth)
{
	while (t->depth) {
		const struct track_slice *top = &t->stack[t->depth - 1];

		if (top->end_ns > begin_ns)
			return top->end_ns >= end_ns;
		/*
		 * Two slices without length at one time: the depth shows whether the second is
		 * inside the first.
		 */
		if (top->end_ns == begin_ns && begin_ns == end_ns && depth > top->depth)
			return true;
		track_pop(tl, t);
	}
	return true;
}

/*
 * The place of a parent whose children have been reported already: around them, after everything
 * else.
 */
static bool track_place_late(struct timeline *tl, struct track *t, uint64_t begin_ns,
			     uint64_t end_ns, uint8_t depth)
{
	struct track_late *l = t->late;

	if (!l || !l->any || depth >= LATE_DEPTHS || !l->below[depth].end_ns ||
	    begin_ns < l->solid_end_ns || begin_ns >= l->below[depth].begin_ns ||
	    end_ns < l->below[depth].end_ns)
		return false;
	while (t->depth && t->stack[t->depth - 1].depth > depth)
		track_pop(tl, t);
	return !t->depth || t->stack[t->depth - 1].end_ns <= begin_ns;
}

static void track_note_late(struct track *t, uint64_t begin_ns, uint64_t end_ns, uint8_t depth)
{
	struct track_late *l = t->late;

	if (!l)
		l = t->late = xcalloc(1, sizeof(*l));
	if (!l->any) {
		*l = (struct track_late){.any = true, .solid_end_ns = t->max_end_ns};
	}
	for (uint8_t d = 0; d < LATE_DEPTHS; d++) {
		if (d >= depth) {
			/* it contains the ones below */
			l->below[d].end_ns = 0;
			continue;
		}
		if (!l->below[d].end_ns || begin_ns < l->below[d].begin_ns)
			l->below[d].begin_ns = begin_ns;
		if (end_ns > l->below[d].end_ns)
			l->below[d].end_ns = end_ns;
	}
}

static void track_push(struct track *t, uint64_t begin_ns, uint64_t end_ns, uint8_t depth)
{
	*table_add(t->stack, t->depth, t->room) = (struct track_slice){begin_ns, end_ns, depth};
	if (begin_ns > t->last_begin_ns)
		t->last_begin_ns = begin_ns;
	if (end_ns > t->max_end_ns)
		t->max_end_ns = end_ns;
}

static uint64_t track_shown_ns(const struct timeline *tl, uint64_t ns)
{
	return ns > tl->opt.floor_ns ? ns : tl->opt.floor_ns;
}

static bool slice_begins_with_open(const struct timeline *tl, const struct track *t,
				   uint64_t begin_ns)
{
	uint64_t at_ns = track_shown_ns(tl, begin_ns);

	for (uint32_t i = t->depth; i-- && track_shown_ns(tl, t->stack[i].begin_ns) == at_ns;) {
		if (t->stack[i].end_ns == UINT64_MAX)
			return true;
	}
	return false;
}

bool tl_track_add(struct timeline *tl, struct track *t, struct slice *s, uint8_t depth, bool orphan)
{
	uint64_t end_ns = s->open ? UINT64_MAX : s->end_ns;
	bool sane = s->end_ns >= s->begin_ns, placed = false;

	if (sane && s->begin_ns < t->last_begin_ns)
		placed = track_place_late(tl, t, s->begin_ns, end_ns, depth);
	else if (sane)
		placed = track_place(tl, t, s->begin_ns, end_ns, depth);
	if (placed) {
		s->with_open = slice_begins_with_open(tl, t, s->begin_ns);
		if (orphan)
			track_note_late(t, s->begin_ns, end_ns, depth);
		else if (t->late)
			t->late->any = false;
		track_push(t, s->begin_ns, end_ns, depth);
		tl->ops->slice(tl->ctx, t, s);
		tl->totals->slices++;
		tl->totals->open += s->open;
		return true;
	}
	args_add_bool(&tl->args, "misplaced", true);
	if (sane)
		args_add_us(&tl->args, "duration_us", s->end_ns - s->begin_ns);
	s->instant = true;
	tl->ops->slice(tl->ctx, t, s);
	tl->totals->instants++;
	tl->totals->misplaced++;
	return false;
}

void tl_instant_write(struct timeline *tl, struct track *t, struct slice *s)
{
	s->instant = s->few_names = true;
	s->end_ns = s->begin_ns;
	s->args = &tl->args;
	tl->ops->slice(tl->ctx, t, s);
	tl->totals->instants++;
}

void tl_track_close(struct timeline *tl, struct track *t)
{
	while (t->depth)
		track_pop(tl, t);
}

void tl_track_release(struct track *t)
{
	free(t->stack);
	free(t->late);
	free(t->thin);
	free(t->name);
}
