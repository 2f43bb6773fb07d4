/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Counts, for each resolution that there is, how many slices of calls a thread would have, by the rule of timeline_group.c but
 * without its details: records come in order of their end, a call after those that it contains. What a slice takes
 * with its arrows and counters was measured (kmod-docs/PERFETTO.md).
 */
#include "timeline/resolution.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "abi/event.h"
#include "lib/log.h"
#include "lib/map.h"
#include "model/model.h"
#include "trace/trace_read.h"
#include "timeline/timeline.h"

#define ALWAYS_CALLS 100000 /* so many are drawn one by one, however small the recording */
#define SLICE_BYTES 550	    /* with the ends of its arrows */
#define SCHED_BYTES 8
#define TIMES_RECORDING 10

static const uint64_t choices_ns[] = {1000,    2000,	3000,	 5000,	  10000,   20000,
				      30000,   50000,	100000,	 200000,  300000,  500000,
				      1000000, 2000000, 3000000, 5000000, 10000000};
#define CHOICES (sizeof(choices_ns) / sizeof(choices_ns[0]))

struct caller {
	uint64_t group_ns[CHOICES]; /* begin of the last group; 0: it has ended */
};

struct census {
	const struct model *model;
	const struct writer_select *sel;
	uint64_t from_ns, to_ns;
	uint64_t calls, sched, slices[CHOICES];
	struct map callers;   /* by thread */
	struct map is_chosen; /* processes by pid; used if ranks are selected */
	bool *func_chosen;    /* by id; used if functions are */
};

static bool process_chosen(const struct census *c, uint32_t pid)
{
	return !c->sel->ranks.n || map_get(&c->is_chosen, pid);
}

/* By id; those that the trace does not list are left out. */
static bool *functions_chosen(const struct model *m, const struct writer_select *sel)
{
	bool *chosen = xcalloc(FUNC_IDS, sizeof(*chosen));

	for (uint32_t f = 0; f < model_func_count(m); f++) {
		const struct func_info *func = model_func_get(m, f);

		for (uint32_t i = 0; i < sel->nfunctions; i++)
			chosen[func->id] |= !fnmatch(sel->functions[i], func->name, 0);
	}
	return chosen;
}

static void call_count(struct census *c, const struct pov_hdr *rec, uint64_t dur_ns, uint32_t pid,
		       uint16_t func)
{
	uint64_t begin_ns = rec->ts_ns - dur_ns;
	struct caller *caller;

	if (rec->ts_ns < c->from_ns || begin_ns > c->to_ns || !process_chosen(c, pid) ||
	    (c->sel->nfunctions && !c->func_chosen[func]))
		return;
	c->calls++;
	caller = map_get(&c->callers, rec->tid) ?: map_make(&c->callers, rec->tid, sizeof(*caller));
	for (unsigned int i = 0; i < CHOICES; i++) {
		bool brief = dur_ns < choices_ns[i];

		if (brief && caller->group_ns[i] && begin_ns < caller->group_ns[i] + choices_ns[i])
			continue;
		c->slices[i]++;
		caller->group_ns[i] = brief ? begin_ns : 0;
	}
}

static void record_count(struct census *c, const struct pov_hdr *rec)
{
	const struct pov_call *call = (const struct pov_call *)rec;
	const struct pov_spin *spin = (const struct pov_spin *)rec;

	if (rec->kind == POV_KIND_CALL)
		call_count(c, rec, call->dur_ns, call->tgid, call->func);
	else if (rec->kind == POV_KIND_SPIN)
		call_count(c, rec, spin->dur_ns, spin->tgid, spin->nfuncs ? spin->func[0].func : 0);
	else if (rec->kind == POV_KIND_SWITCH || rec->kind == POV_KIND_WAKING)
		c->sched += rec->ts_ns >= c->from_ns && rec->ts_ns <= c->to_ns;
}

static int census_take(struct census *c)
{
	const struct pov_hdr *rec;
	struct trace_merge *merge;
	int err = trace_merge_open(model_get_trace(c->model), NULL, &merge);

	if (err)
		return err;
	while ((err = trace_merge_next(merge, &rec)) > 0)
		record_count(c, rec);
	trace_merge_close(merge);
	return err;
}

static void census_begin(struct census *c, struct model *m, const struct writer_select *sel)
{
	uint64_t start_ns = model_get_info(m)->start_ns;

	*c = (struct census){.model = m, .sel = sel, .to_ns = UINT64_MAX};
	c->from_ns = sel->from_ns ? start_ns + sel->from_ns : 0;
	if (sel->to_ns)
		c->to_ns = start_ns + sel->to_ns;
	c->func_chosen = functions_chosen(m, sel);
	for (uint32_t i = 0; i < model_process_count(m); i++) {
		struct model_process *p = model_process_get(m, i);

		if (p->is_rank && rank_list_has(&sel->ranks, p->job_idx, p->rank))
			map_set(&c->is_chosen, p->pid, p);
	}
}

static uint64_t census_choose(const struct census *c, uint64_t recording_bytes)
{
	uint64_t room = TIMES_RECORDING * recording_bytes, sched = c->sched * SCHED_BYTES;
	uint64_t slices = room > sched ? (room - sched) / SLICE_BYTES : 0;

	if (slices < ALWAYS_CALLS)
		slices = ALWAYS_CALLS;
	if (c->calls <= slices)
		return 0;
	for (unsigned int i = 0; i < CHOICES; i++)
		if (c->slices[i] <= slices)
			return choices_ns[i];
	return choices_ns[CHOICES - 1];
}

int resolution_choose(struct model *m, const struct writer_select *sel, uint64_t recording_bytes,
		      uint64_t *resolution_ns)
{
	const struct trace_summary *sum = trace_get_summary(model_get_trace(m));
	uint64_t ns = sel->all_calls ? 0 : sel->resolution_ns;
	struct census c;
	int err = 0;

	if (!sel->all_calls && !sel->resolution_ns && sum->records > ALWAYS_CALLS) {
		census_begin(&c, m, sel);
		err = census_take(&c);
		ns = census_choose(&c, recording_bytes);
		map_free(&c.callers, free);
		map_release(&c.is_chosen);
		free(c.func_chosen);
	}
	if (!err)
		*resolution_ns = ns;
	return err;
}
