/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Gaps: periods in which scheduler records are missing, because the kernel half lost them or
 * because blocks of the file are damaged. The reader inserts their begins and ends among the
 * records. In a gap only one state remains known: that of a thread running on a CPU whose ring lost
 * nothing. Every other state is UNKNOWN from the begin of the gap until the thread's first event
 * after its end.
 */
#include "model/when.h"

/* Counter of open gaps of a ring; shared by all rings if the number is invalid. */
static uint32_t *gaps_open_of(struct model *m, uint32_t ring)
{
	return ring < m->rings ? &m->gaps_open_ring[ring] : &m->gaps_open_all;
}

/*
 * If a loss is noticed only after its begin (since_ns), reported intervals cannot be taken back.
 * The state that each thread has had since its last event can.
 */
void gap_begin(struct model *m, const struct pov_lost *rec)
{
	uint64_t ts_ns = rec->hdr.ts_ns, since_ns;
	struct mthread *t;
	uint32_t i;

	m->stats.sched_gaps_late += rec->since_ns < ts_ns;
	if (!m->gaps_open++)
		m->gap_since_ns = ts_ns > m->info.start_ns ? ts_ns : m->info.start_ns;
	if ((*gaps_open_of(m, rec->ring))++)
		return;
	m->stats.sched_gaps++;
	for (i = 0; i < m->nthreads; i++) {
		t = m->thread[i];
		if (!t->born || t->pub.state == THREAD_DEAD || t->pub.state == THREAD_UNKNOWN)
			continue;
		if (t->pub.state == THREAD_RUNNING && !gap_blinds(m, t->pub.cpu))
			continue;
		since_ns = rec->since_ns > t->pub.since_ns ? rec->since_ns : t->pub.since_ns;
		if (t->exiting)
			state_die(m, t, since_ns);
		else
			state_forget(m, t, since_ns);
	}
}

static void gap_count_ns(struct model *m, uint64_t until_ns)
{
	if (until_ns > m->info.end_ns)
		until_ns = m->info.end_ns;
	if (until_ns > m->gap_since_ns)
		m->stats.sched_gap_ns += until_ns - m->gap_since_ns;
}

void gap_end(struct model *m, const struct pov_lost *rec)
{
	uint64_t ts_ns = rec->hdr.ts_ns;
	uint32_t cpu;

	if (!--m->gaps_open)
		gap_count_ns(m, ts_ns);
	if (--*gaps_open_of(m, rec->ring))
		return;
	for (cpu = 0; cpu < MODEL_CPUS_MAX; cpu++) {
		struct cpu_state *c = &m->cpu[cpu];

		if (gap_blinds(m, (uint16_t)cpu) || c->quiet_since_ns >= ts_ns)
			continue;
		if (rec->ring >= m->rings || gap_ring(m, (uint16_t)cpu) == rec->ring)
			c->quiet_since_ns = ts_ns;
	}
}

void gap_finish(struct model *m)
{
	if (m->gaps_open)
		gap_count_ns(m, m->info.end_ns);
}
