/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Real computation and a rank's threads, for struct comm's operations on MPI. */
#ifndef POVBENCH_COMPUTE_H
#define POVBENCH_COMPUTE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/comm.h"

struct compute_engine;

/*
 * Calibrates, which takes some ms. The rank is number local_rank of local_cnt on this node. `taken`
 * has the units that the ranks' own threads are bound to, and is empty if they are not bound. These
 * decide which units load threads take.
 */
struct compute_engine *compute_new(int local_rank, int local_cnt, const cpu_set_t *taken);
void compute_free(struct compute_engine *e); /* null is allowed */
/* The bits of enum comm_feature that this module decides. */
uint32_t compute_features(void);

/* Computes for ns. Within compute_threads_run it always uses the calling thread only. */
void compute_run(struct compute_engine *e, const struct compute *how, uint64_t ns);
double compute_ops_per_ns(const struct compute_engine *e);

/*
 * Starts threads that compute until compute_load_end. If bound, the i-th thread of all ranks of the
 * node together takes the i-th unit. Cores come before their second units, and the ranks' own
 * units come last: the first local_cnt, as launchers place them, if the ranks are not bound. With a
 * list, only its units are used. Unbound threads run where the rank may.
 */
void compute_load_begin(struct compute_engine *e, const struct comm_load *how);
void compute_load_end(struct compute_engine *e);

void compute_threads_run(struct compute_engine *e, int n, void (*fn)(void *arg, int thread),
			 void *arg);

#endif
