/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Ranks whose activity is passed to analysis/causes.h directly, without a replay. */
#ifndef POV_TESTS_CAUSES_WORLD_H
#define POV_TESTS_CAUSES_WORLD_H

#include "analysis/causes.h"
#include "unit/model_fixture.h"

#define RANKS 5
#define START 1000

struct causes_world {
	struct mfix f;
	struct model_thread thread[RANKS];
	struct model_thread hog;
	struct model_process hog_process;
	struct holders holders;
	struct arrivals arrivals;
	struct late_pairs late;
	struct epochs epochs;
	struct causes causes;
};

void causes_world_open(struct causes_world *w);
/* Ends the input. */
void causes_world_end(struct causes_world *w);
void causes_world_close(struct causes_world *w);

void state_at(struct causes_world *w, int rank, uint64_t from_ns, uint64_t to_ns,
	      enum thread_state s);
void call_at(struct causes_world *w, int rank, uint64_t begin_ns, uint64_t end_ns);
void told_polls(struct causes_world *w, int rank, uint64_t begin_ns, uint64_t end_ns);
/* A rank waits from from_ns to receive what another rank sends at sent_ns. */
void told_receive(struct causes_world *w, int rank, uint64_t from_ns, int sender, uint64_t sent_ns);
/* A rank's part in a collective call of `members` ranks. */
void told_join(struct causes_world *w, int rank, uint32_t comm, int members, uint64_t begin_ns,
	       uint64_t end_ns);

/*
 * Returns the time in a map of causes. CAUSE_NOBODY: of all processes; CAUSE_KINDS: of all kinds.
 */
uint64_t causes_world_ns(const struct map *of, uint32_t process, int kind);
/* Like causes_world_ns(), for the map of root causes. */
uint64_t causes_world_root_ns(struct causes_world *w, uint32_t process, int kind);
/* Returns the total waiting time. */
uint64_t causes_world_waited_ns(struct causes_world *w);

#endif
