/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * When which thread was in which state. What is made of that comes later: it is told of each interval that ends, and of each thread
 * that does, by two functions that the pass sets (struct model).
 */
#ifndef POV_MODEL_WHEN_H
#define POV_MODEL_WHEN_H

#include "model/who.h"

/* ---- state.c ---- */

void state_set(struct model *m, struct mthread *t, uint64_t ts_ns, enum thread_state s,
	       uint16_t cpu);
/* The thread did something on this CPU: it runs there, and has since the last switch on that CPU. */
void state_running_at(struct model *m, struct mthread *t, uint64_t ts_ns, uint16_t cpu);
/* Its state up to ts was right, and is not known from there on. */
void state_forget(struct model *m, struct mthread *t, uint64_t ts_ns);
/* It comes to a CPU, which was idle or not. */
void state_enter(struct model *m, struct mthread *t, uint64_t ts_ns, uint16_t cpu, bool was_idle);
/* state_die = state_set to DEAD, then state_bury, which tells of it. */
void state_bury(struct model *m, struct mthread *t, uint64_t ts_ns);
void state_die(struct model *m, struct mthread *t, uint64_t ts_ns);
void state_move(struct model *m, struct mthread *t, uint16_t cpu);
void state_counters_tell(struct model *m, uint64_t ts_ns);
void state_finish(struct model *m);

/* ---- gap.c ---- */

void gap_begin(struct model *m, const struct pov_lost *rec);
void gap_end(struct model *m, const struct pov_lost *rec);
void gap_finish(struct model *m);

/* The ring a CPU's records go to, as the kernel half chooses it. */
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
