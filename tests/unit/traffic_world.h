/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A trace of three ranks that did nothing, into whose report tests put posts, of layers of their own. */
#ifndef POV_TESTS_TRAFFIC_WORLD_H
#define POV_TESTS_TRAFFIC_WORLD_H

#include "report/report.h"
#include "unit/model_fixture.h"

/* Of layers of nearness 1, 2 and 4; of MPI. */
extern const struct func_info func_upper_post, func_middle_post, func_lowest_post;
extern const struct func_info func_mpi_bcast, func_mpi_isend, func_mpi_wait, func_mpi_irecv,
	func_mpi_pcontrol;

struct world {
	struct mfix f;
	struct trace_source source;
	struct report_options opt;
	struct report r;
	struct model_thread
		*thread[4]; /* 0, 1, 2: main threads of the ranks; 3: a second one of rank 0 */
};

/* lossy: calls are missing from 5000 to 6000, of 1000 to 9000. */
void world_open(struct world *w, bool lossy);
/* All has been told: what follows from it is in w->r. */
void world_settle(struct world *w);
void world_close(struct world *w);
/* within: the function of MPI around it, or NULL. */
void world_post(struct world *w, int thread, const struct func_info *f, uint64_t ts,
		const struct func_info *within, struct call_post post);
struct call_post post_between(enum post_kind kind, enum post_carrier carrier, int64_t bytes,
			      const char *from, const char *to);

#endif
