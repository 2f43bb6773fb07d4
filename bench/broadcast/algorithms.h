/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Broadcasts that serve to judge the methods (de Supinski & Karonis 1999, sections 2 and 3). The
 * library's broadcast has an unknown pattern. The latency of the three others follows from their
 * pattern: a chain upwards (n - 1 hops), the same chain downwards, and a binomial tree (about log2
 * n). They use send and recv only.
 */
#ifndef POVBENCH_BROADCAST_ALGORITHMS_H
#define POVBENCH_BROADCAST_ALGORITHMS_H

#include "core/comm.h"

enum bcast_algorithm {
	BCAST_LIBRARY = 0,
	BCAST_LINEAR = 1,   /* task i receives from i - 1, the root sends to root + 1 */
	BCAST_BACKWARD = 2, /* task i receives from i + 1, the root sends to root - 1 */
	BCAST_BINOMIAL = 3, /* MPICH's: each task passes on to the farthest first */
	BCAST_ALGORITHM_CNT = 4,
};

/* All tasks of c call it. buf is the source at the root and the destination elsewhere. */
void bcast_run(struct comm *c, enum bcast_algorithm algorithm, void *buf, size_t bytes, int root);

#endif
