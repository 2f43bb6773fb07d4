/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What spawn.c and spawned.c have in common: how many they are, and the part that both sides do alike. */
#ifndef TESTS_MPI_SPAWN_H
#define TESTS_MPI_SPAWN_H

#include "expect.h"

#define PARENTS 2
#define CHILDREN 3

/* In one communicator: parents first, then children. */
static inline void together(MPI_Comm other_side, int high)
{
	MPI_Comm all;
	int me, n, sum;

	DO(MPI_Intercomm_merge, other_side, high, &all);
	DO(MPI_Comm_rank, all, &me);
	DO(MPI_Comm_size, all, &n);
	MUST(n == PARENTS + CHILDREN);
	for (int i = 0; i < 17; i++)
		MOVE(MPI_Allreduce, 4, 4, &me, &sum, 1, MPI_INT, MPI_SUM, all);
	for (int i = 0; i < 13; i++)
		CALL(MPI_Sendrecv, (me + 1) % n, 4, 4, &me, 1, MPI_INT, (me + 1) % n, 11, &sum, 1,
		     MPI_INT, (me + n - 1) % n, 11, all, MPI_STATUS_IGNORE);
	DO(MPI_Comm_free, &all);
}

#endif
