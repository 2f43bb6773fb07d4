/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arguments that mean nothing at a rank need not be anything there: datatypes and lengths that are significant at the root only, and
 * those of what MPI_IN_PLACE stands for. Here they lead nowhere. 2 ranks.
 */
#include "expect.h"

#include <stdint.h>

#define ROUNDS 10
#define NOWHERE 0x7a7a7a7a7a70
#define NO_TYPE ((MPI_Datatype)(uintptr_t)NOWHERE)
#define NO_LENGTHS ((const int *)NOWHERE)

static void round_make(int rank, int size, MPI_Datatype theirs)
{
	int mine = rank, all[2] = {0}, ones[2] = {1, 1}, at[2] = {0, 1};
	const int *lengths = rank ? NO_LENGTHS : ones, *places = rank ? NO_LENGTHS : at;
	size_t whole = rank ? 0 : size * sizeof(int);

	MOVE(MPI_Gather, sizeof(int), whole, &mine, 1, MPI_INT, all, 1, theirs, 0, MPI_COMM_WORLD);
	MUST(rank || (all[0] == 0 && all[1] == 1));
	MOVE(MPI_Scatter, whole, sizeof(int), all, 1, theirs, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MUST(mine == rank);
	MOVE(MPI_Gatherv, sizeof(int), whole, &mine, 1, MPI_INT, all, lengths, places, theirs, 0,
	     MPI_COMM_WORLD);
	MUST(rank || (all[0] == 0 && all[1] == 1));
	MOVE(MPI_Scatterv, whole, sizeof(int), all, lengths, places, theirs, &mine, 1, MPI_INT, 0,
	     MPI_COMM_WORLD);
	MUST(mine == rank);
	DO(MPI_Alltoallv, MPI_IN_PLACE, NO_LENGTHS, NO_LENGTHS, NO_TYPE, all, ones, at, MPI_INT,
	   MPI_COMM_WORLD);
	DO(MPI_Allgather, MPI_IN_PLACE, 0, NO_TYPE, all, 1, MPI_INT, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	MUST(size == 2);
	for (int i = 0; i < ROUNDS; i++)
		round_make(rank, size, rank ? NO_TYPE : MPI_INT);
	expect_finish();
	return 0;
}
