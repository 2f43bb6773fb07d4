/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Thread states over time. This step knows nothing of its users: it reports each finished interval
 * and each ended thread through two functions that the pass sets (struct model).
 */
#ifndef POV_MODEL_WHEN_H
#define POV_MODEL_WHEN_H

#include "model/who.h"

/* ---- state.c ---- */

void state_set(struct model *m, struct mthread *t, uint64_t ts_ns, enum thread_state s,
	       uint16_t cpu);
/* The thread did something on this CPU: it has run there since the CPU's last switch. */
void state_running_at(struct model *m, struct mthread *t, uint64_t ts_ns, uint16_t cpu);
/* The thread is switched in. was_idle: the CPU ran no thread before. */
void state_enter(struct model *m, struct mthread *t, uint64_t ts_ns, uint16_t cpu, bool was_idle);
/* state_die() sets DEAD, then calls state_bury(), which reports the end. */
void state_bury(struct model *m, struct mthread *t, uint64_t ts_ns);
void state_die(struct model *m, struct mthread *t, uint64_t ts_ns);
void state_move(struct model *m, struct mthread *t, uint16_t cpu);
void state_counters_tell(struct model *m, uint64_t ts_ns);
void state_finish(struct model *m);

/* ---- state.c ---- */

void gap_begin(struct model *m, const struct pov_lost *rec);
void gap_end(struct model *m, const struct pov_lost *rec);
void gap_finish(struct model *m);

/* The ring that a CPU's records go to. Mirrors the choice of the kernel half. */
static inline uint32_t gap_ring(const struct model *m, uint16_t cpu)
{
	uint32_t ring = cpu / m->cpus_per_ring;

	return ring < m->rings ? ring : 0;
}

/* True while switches on this CPU may be missing. */
static inline bool gap_blinds(const struct model *m, uint16_t cpu)
{
	return m->gaps_open && (m->gaps_open_all || m->gaps_open_ring[gap_ring(m, cpu)]);
}

#endif
