/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One pass over all records in time order, and what happens between them: gaps begin and end, layers
 * learn of processes. A pass begins with nothing but the identities, so that it can be repeated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/log.h"
#include "model/replay.h"
#include "trace/trace_read.h"

/* ---- what happens between records ---- */

static void timer_add(struct model *m, uint64_t at_ns, enum timer_kind kind, uint32_t gap,
		      json_t *meta)
{
	if (m->ntimers == m->timers_cap) {
		m->timers_cap = m->timers_cap ? m->timers_cap * 2 : 64;
		m->timer = xrealloc(m->timer, m->timers_cap * sizeof(*m->timer));
	}
	m->timer[m->ntimers] = (struct timer){at_ns, kind, gap, meta, m->ntimers};
	m->ntimers++;
}

static int timer_compare(const void *va, const void *vb)
{
	const struct timer *a = va, *b = vb;

	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->seq < b->seq ? -1 : 1;
}

/*
 * The layers learn of a process no later than its first record, whenever the block about it was written;
 * what replaces it (after exec) holds from its own time on.
 */
static void timers_from_metas(struct model *m)
{
	struct map seen = {0};
	uint64_t at_ns;
	json_t *meta;
	size_t i;

	for (i = 0; i < trace_meta_count(m->trace); i++) {
		meta = trace_meta_get(m->trace, i);
		at_ns = 0;
		if (json_is_type(meta, "process")) {
			uint64_t ts_ns = (uint64_t)json_get_int(meta, "ts_ns");
			uint32_t pid = (uint32_t)json_get_int(meta, "pid");
			struct mprocess *p = identity_process_at(m, pid, ts_ns);

			at_ns = map_set(&seen, (uintptr_t)p, p) ? ts_ns : p->pub.start_ns;
		} else if (!json_is_type(meta, "library") && !json_is_type(meta, "hosts")) {
			continue;
		}
		timer_add(m, at_ns, TIMER_META, 0, meta);
	}
	map_release(&seen);
}

static void timers_from_gap(struct model *m, uint32_t gap)
{
	timer_add(m, m->gap[gap].since_ns, TIMER_GAP_BEGIN, gap, NULL);
	if (m->gap[gap].until_ns < UINT64_MAX)
		timer_add(m, m->gap[gap].until_ns + 1, TIMER_GAP_END, gap, NULL);
}

static void timers_sort(struct model *m)
{
	uint32_t left = m->ntimers - m->timer_next;

	if (left)
		qsort(m->timer + m->timer_next, left, sizeof(*m->timer), timer_compare);
	m->next_timer_ns = left ? m->timer[m->timer_next].at_ns : TIME_NEVER;
}

/* Turns damage not noticed before into gaps, from behind the ones there are. */
static void damage_take(struct model *m)
{
	struct trace_damage *list;
	size_t i, n = trace_damage_list(m->trace, &list);

	m->bad_blocks = trace_get_summary(m->trace)->bad_blocks;
	for (i = 0; i < n; i++) {
		if (map_set(&m->damage, list[i].id, m))
			continue;
		m->damaged |= list[i].guessed;
		gap_add_damage(m, &list[i]);
	}
	free(list);
}

static void timers_prepare(struct model *m)
{
	uint32_t i;

	m->ntimers = m->timer_next = 0;
	m->ngaps = m->nlost_gaps;
	map_release(&m->damage);
	m->damaged = false;
	damage_take(m);
	timers_from_metas(m);
	for (i = 0; i < m->ngaps; i++)
		timers_from_gap(m, i);
	timers_sort(m);
}

static void timers_run(struct model *m, uint64_t ts_ns)
{
	struct timer *t;
	uint32_t i;

	while (m->timer_next < m->ntimers && m->timer[m->timer_next].at_ns <= ts_ns) {
		t = &m->timer[m->timer_next++];
		switch (t->kind) {
		case TIMER_GAP_BEGIN:
			gap_begin(m, &m->gap[t->gap]);
			break;
		case TIMER_GAP_END:
			gap_end(m, &m->gap[t->gap]);
			break;
		case TIMER_META:
			for (i = 0; i < m->nlayers; i++) {
				if (m->decoder[i] && layers[i]->decoder_meta)
					layers[i]->decoder_meta(m->decoder[i], t->meta);
			}
			break;
		}
		if (m->ndirty)
			state_counters_tell(m, m->now_ns);
	}
	m->next_timer_ns = m->timer_next < m->ntimers ? m->timer[m->timer_next].at_ns : TIME_NEVER;
}

/*
 * A damaged block is noticed when its records are due: what was told so far is right, and a gap begins
 * here.
 */
static void notice_damage(struct model *m)
{
	uint32_t i = m->ngaps;

	damage_take(m);
	for (; i < m->ngaps; i++) {
		struct gap *g = &m->gap[i];

		if (g->since_ns < m->now_ns)
			g->since_ns = m->now_ns;
		if (g->until_ns >= m->now_ns)
			timers_from_gap(m, i);
	}
	timers_sort(m);
}

/* ---- the pass ---- */

static void thread_reset(struct model *m, struct mthread *t)
{
	call_release(m, t);
	memcpy(t->pub.comm, t->first_comm, sizeof(t->pub.comm));
	memset(&t->pub.times, 0, sizeof(t->pub.times));
	t->pub.state = THREAD_UNKNOWN;
	t->pub.since_ns = t->pub.start_ns;
	t->pub.end_ns = t->exit_ns != TIME_NEVER ? t->exit_ns : m->info.end_ns;
	if (!t->pub.idle)
		t->pub.cpu = 0;
	t->born = t->pub.idle;
	t->exiting = false;
	t->woken_running_ns = 0;
}

static void interval_ended(struct model *m, struct mthread *t, uint64_t from_ns, uint64_t to_ns,
			   enum thread_state state)
{
	history_note(t, from_ns, to_ns, state);
	past_add(m, t, from_ns, to_ns, state);
}

static void thread_ended(struct model *m, struct mthread *t)
{
	call_flush(m, t);
	call_release(m, t);
}

static void replay_reset(struct model *m)
{
	struct tid_slot *slot;
	size_t at = 0;
	uint32_t i;

	memset(&m->stats, 0, sizeof(m->stats));
	past_reset(m);
	m->interval_ended = interval_ended;
	m->thread_ended = thread_ended;
	for (i = 0; i < m->nthreads; i++)
		thread_reset(m, m->thread[i]);
	while ((slot = map_next(&m->tids, &at, NULL)))
		slot->cur = NULL;
	for (i = 0; i < m->nprocesses; i++) {
		image_forget(m->process[i]);
		m->process[i]->in_flight_bytes = 0;
	}
	for (i = 0; i < MODEL_CPUS_MAX; i++) {
		struct mthread *idle = m->cpu[i].idle;

		memset(&m->cpu[i], 0, sizeof(m->cpu[i]));
		m->cpu[i].idle = idle;
	}
	m->now_ns = m->info.start_ns;
	m->sched_since_ns = TIME_NEVER;
	m->gaps_open = m->gaps_open_all = m->ndirty = 0;
	memset(m->gaps_open_ring, 0, sizeof(m->gaps_open_ring));
}

static void decoders_release(struct model *m)
{
	uint32_t i;

	for (i = 0; i < m->nlayers; i++) {
		if (m->decoder[i])
			layers[i]->decoder_free(m->decoder[i]);
		m->decoder[i] = NULL;
	}
}

static void replay_prepare(struct model *m)
{
	uint32_t i;

	replay_reset(m);
	for (m->nlayers = 0; layers[m->nlayers] && m->nlayers < MODEL_LAYERS_MAX; m->nlayers++)
		m->decoder[m->nlayers] = layers[m->nlayers]->decoder_new();
	timers_prepare(m);
	TELL(m, start, m);
	for (i = 0; i < m->nthreads; i++) {
		struct mthread *t = m->thread[i];

		if (t->pub.idle)
			TELL(m, thread, &t->pub, m->info.start_ns);
		else if (t->pub.start_ns == m->info.start_ns)
			replay_slot_advance(m, identity_slot(m, t->pub.tid), m->info.start_ns);
	}
}

static int gap_compare(const void *va, const void *vb)
{
	const struct gap *a = va, *b = vb;

	return a->since_ns < b->since_ns ? -1 : a->since_ns > b->since_ns;
}

static void gaps_measure(struct model *m)
{
	struct gap *list = xcalloc(m->ngaps + 1, sizeof(*list));
	uint64_t told_ns = m->info.start_ns, until_ns;
	uint32_t i;

	for (i = 0; i < m->ngaps; i++)
		list[i] = m->gap[i];
	qsort(list, m->ngaps, sizeof(*list), gap_compare);
	m->stats.sched_gaps = m->ngaps;
	for (i = 0; i < m->ngaps; i++) {
		until_ns = list[i].until_ns < m->info.end_ns ? list[i].until_ns : m->info.end_ns;
		if (until_ns <= told_ns)
			continue;
		m->stats.sched_gap_ns += until_ns -
					 (list[i].since_ns > told_ns ? list[i].since_ns : told_ns);
		told_ns = until_ns;
	}
	free(list);
}

static int replay_end(struct model *m)
{
	unsigned int i;
	int err = 0, e;

	if (trace_get_summary(m->trace)->bad_blocks != m->bad_blocks)
		notice_damage(m); /* the last block */
	timers_run(m, m->info.end_ns);
	for (i = 0; i < m->nthreads; i++)
		call_flush(m, m->thread[i]);
	state_finish(m);
	past_finish(m);
	gaps_measure(m);
	for (i = 0; i < m->nsinks; i++) {
		if (!m->sinks[i]->finish)
			continue;
		e = m->sinks[i]->finish(m->sinks[i]->ctx, m);
		err = err ? err : e;
	}
	return err;
}

static void sinks_sort(struct model *m)
{
	if (m->nsinks > MODEL_SINKS_MAX)
		die("model: more than %d sinks", MODEL_SINKS_MAX);
	memset(&m->to, 0, sizeof(m->to));
	for (unsigned int i = 0; i < m->nsinks; i++) {
#define ADD(callback)              \
	if (m->sinks[i]->callback) \
		m->to.callback.sink[m->to.callback.cnt++] = m->sinks[i];
		MODEL_CALLBACKS(ADD)
#undef ADD
	}
}

int model_run(struct model *m, const struct model_sink *const *sinks, unsigned int nsinks)
{
	const struct trace_merge_options opt = {0};
	const struct trace_summary *sum = trace_get_summary(m->trace);
	const struct pov_hdr *rec;
	struct trace_merge *merge;
	int err;

	m->sinks = sinks;
	m->nsinks = nsinks;
	sinks_sort(m);
	err = trace_merge_open(m->trace, &opt, &merge);
	if (err)
		return err;
	replay_prepare(m);
	while ((err = trace_merge_next(merge, &rec)) == 1) {
		m->stats.records++;
		if (sum->bad_blocks != m->bad_blocks)
			notice_damage(m); /* before the time moves on */
		if (rec->ts_ns > m->now_ns)
			m->now_ns = rec->ts_ns;
		if (m->now_ns >= m->next_timer_ns)
			timers_run(m, m->now_ns);
		replay_record(m, rec);
		if (identity_check(m)) {
			err = -E2BIG;
			break;
		}
		if (m->ndirty)
			state_counters_tell(m, m->now_ns);
	}
	trace_merge_close(merge);
	if (!err)
		err = replay_end(m);
	decoders_release(m);
	return err;
}
