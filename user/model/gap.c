/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Stretches over which scheduler records are missing: lost by the kernel half, or in damaged blocks of the
 * file. A loss is told at the end of its stretch, so these are learned before the replay; a damaged block is
 * noticed when its records are due. Inside one, only this is still known: a thread that
 * runs on a CPU whose ring lost nothing. Every other state is UNKNOWN from the stretch's beginning until
 * the thread's first event behind its end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/log.h"
#include "model/when.h"
#include "trace/trace_read.h"
#include "trace/trace_write.h"

static struct gap *gap_new(struct model *m)
{
	if (m->ngaps == m->gaps_cap) {
		m->gaps_cap = m->gaps_cap ? m->gaps_cap * 2 : 64;
		m->gap = xrealloc(m->gap, m->gaps_cap * sizeof(*m->gap));
	}
	return &m->gap[m->ngaps++];
}

void gap_add(struct model *m, const struct pov_lost *lost)
{
	struct gap *g;

	if (lost->class != POV_CLASS_SCHED || lost->since_ns > lost->hdr.ts_ns)
		return;
	g = gap_new(m);
	g->since_ns = lost->since_ns;
	g->until_ns = lost->hdr.ts_ns;
	g->ring = lost->ring < m->rings ? lost->ring : GAP_ALL_CPUS;
}

void gap_add_damage(struct model *m, const struct trace_damage *d)
{
	struct gap *g;

	if (m->sched_mode == POV_SCHED_OFF || d->stream == TRACE_STREAM_TASKS ||
	    d->from_ns > d->to_ns)
		return;
	g = gap_new(m);
	g->since_ns = d->from_ns;
	g->until_ns = d->to_ns;
	g->ring = d->stream < m->rings ? d->stream : GAP_ALL_CPUS;
}

bool gap_known(const struct model *m, const struct pov_lost *lost)
{
	uint32_t ring = lost->ring < m->rings ? lost->ring : GAP_ALL_CPUS;
	uint32_t lo = 0, hi = m->nlost_gaps, mid;
	const struct gap *g;

	while (lo < hi) { /* the last one of the ring that begins no later */
		mid = lo + (hi - lo) / 2;
		g = &m->gap[mid];
		if (g->ring < ring || (g->ring == ring && g->since_ns <= lost->since_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	g = lo ? &m->gap[lo - 1] : NULL;
	return g && g->ring == ring && g->until_ns >= lost->hdr.ts_ns;
}

/*
 * A loss that no one announced where it should be: what was told cannot be taken back, but each thread's
 * state since its last event can.
 */
void gap_late(struct model *m, uint64_t ts_ns)
{
	uint32_t i;

	m->stats.sched_gaps_late++;
	for (i = 0; i < m->nthreads; i++) {
		if (m->thread[i]->born)
			state_withdraw(m, m->thread[i], ts_ns);
	}
	for (i = 0; i < MODEL_CPUS_MAX; i++)
		m->cpu[i].quiet_since_ns = ts_ns;
}

static uint64_t drops_of_sched(const json_t *end)
{
	const json_t *drops = json_object_get(end, "drops"), *drop;
	const char *class;
	uint64_t cnt = 0;
	size_t i;

	for (i = 0; i < json_array_size(drops); i++) {
		drop = json_array_get(drops, i);
		class = json_string_value(json_object_get(drop, "class"));
		if ((class && !strcmp(class, "sched")) ||
		    (!class && json_get_int(drop, "class") == POV_CLASS_SCHED))
			cnt += (uint64_t)json_get_int(drop, "cnt");
	}
	return cnt;
}

int gap_complete(struct model *m)
{
	const json_t *end = trace_meta_find(m->trace, "end");
	const struct trace_merge_options opt = {0};
	struct trace_merge *merge;
	const struct pov_hdr *rec;
	int err;

	if (m->ngaps || m->sched_mode == POV_SCHED_OFF || (end && !drops_of_sched(end)))
		return 0;
	err = trace_merge_open(m->trace, &opt, &merge);
	if (err)
		return err;
	while ((err = trace_merge_next(merge, &rec)) == 1) {
		if (rec->kind == POV_KIND_LOST)
			gap_add(m, (const struct pov_lost *)rec);
	}
	trace_merge_close(merge);
	return err;
}

static int gap_compare(const void *va, const void *vb)
{
	const struct gap *a = va, *b = vb;

	if (a->ring != b->ring)
		return a->ring < b->ring ? -1 : 1;
	return a->since_ns < b->since_ns ? -1 : a->since_ns > b->since_ns;
}

void gap_sort(struct model *m)
{
	uint32_t i, n = 0;

	m->nlost_gaps = m->ngaps;
	if (!m->ngaps)
		return;
	qsort(m->gap, m->ngaps, sizeof(*m->gap), gap_compare);
	for (i = 1; i < m->ngaps; i++) {
		struct gap *last = &m->gap[n], *g = &m->gap[i];

		if (g->ring != last->ring || g->since_ns > last->until_ns)
			m->gap[++n] = *g;
		else if (g->until_ns > last->until_ns)
			last->until_ns = g->until_ns;
	}
	m->ngaps = m->nlost_gaps = n + 1;
}

void gap_begin(struct model *m, const struct gap *g)
{
	struct mthread *t;
	uint32_t i;

	m->gaps_open++;
	if (g->ring == GAP_ALL_CPUS)
		m->gaps_open_all++;
	else
		m->gaps_open_ring[g->ring]++;
	for (i = 0; i < m->nthreads; i++) {
		t = m->thread[i];
		if (!t->born || t->pub.state == THREAD_DEAD || t->pub.state == THREAD_UNKNOWN)
			continue;
		if (t->pub.state == THREAD_RUNNING && !gap_blinds(m, t->pub.cpu))
			continue;
		if (t->exiting)
			state_die(m, t, g->since_ns);
		else
			state_forget(m, t, g->since_ns);
	}
}

void gap_end(struct model *m, const struct gap *g)
{
	uint32_t cpu;

	m->gaps_open--;
	if (g->ring == GAP_ALL_CPUS)
		m->gaps_open_all--;
	else
		m->gaps_open_ring[g->ring]--;
	for (cpu = 0; cpu < MODEL_CPUS_MAX; cpu++) {
		struct cpu_state *c = &m->cpu[cpu];

		if (gap_blinds(m, (uint16_t)cpu) || c->quiet_since_ns >= g->until_ns)
			continue;
		if (g->ring == GAP_ALL_CPUS || gap_ring(m, (uint16_t)cpu) == g->ring)
			c->quiet_since_ns = g->until_ns;
	}
}
