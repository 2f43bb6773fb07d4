/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * With a resolution, arrows and counters are thinned out, too. Arrows with a longer call at either end all stay. Of those between
 * short calls a thread keeps one of a kind in a stretch as long as the resolution, and none that would lead from a group to
 * itself. Of a counter's values in such a stretch the highest and the last are kept.
 */
#include "lib/log.h"
#include "timeline/timeline_priv.h"

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
