/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Real computation and threads of a rank, for struct comm's operations on MPI. */
#ifndef POVBENCH_COMPUTE_H
#define POVBENCH_COMPUTE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/comm.h"

struct compute_engine;

/*
 * Calibrates (some ms). The rank is the local_rank-th of local_cnt of this node; taken: the units that its ranks'
 * own threads are bound to, empty if they are not bound. From these follows who takes which unit for load threads.
 */
struct compute_engine *compute_new(int local_rank, int local_cnt, const cpu_set_t *taken);
void compute_free(struct compute_engine *e); /* null is allowed */
/* What of enum comm_feature computation decides. */
uint32_t compute_features(void);

/* Computes for ns. In threads of compute_threads_run always in the calling one only. */
void compute_run(struct compute_engine *e, const struct compute *how, uint64_t ns);
double compute_ops_per_ns(const struct compute_engine *e);

/*
 * Threads that compute until load_end. Bound, the i-th thread of all ranks of the node together takes the i-th unit,
 * cores before their second units, the ranks' own last (the first local_cnt, as launchers place them, if the ranks are
 * not bound); with a list, of those in it. Unbound they run where the rank may.
 */
void compute_load_begin(struct compute_engine *e, const struct comm_load *how);
void compute_load_end(struct compute_engine *e);

void compute_threads_run(struct compute_engine *e, int n, void (*fn)(void *arg, int thread),
			 void *arg);

#endif
