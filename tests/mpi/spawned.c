/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The children's half of spawn.c: a job with a world of its own. */
#include "expect.h"
#include "spawn.h"

#define PROG "spawned"

static int rank, size;

static void across(MPI_Comm parents)
{
	char buf[2048] = "";

	for (int i = 0; rank < PARENTS && i < 101; i++)
		CALL(MPI_Recv, rank, 0, 211, buf, 211, MPI_CHAR, rank, 3, parents,
		     MPI_STATUS_IGNORE);
	for (int i = 0; rank < PARENTS && i < 43; i++)
		CALL(MPI_Send, rank, 223, 0, buf, 223, MPI_CHAR, rank, 5, parents);
	for (int p = 0; rank == CHILDREN - 1 && p < PARENTS; p++)
		for (int i = 0; i < 29; i++)
			CALL(MPI_Recv, p, 0, 227, buf, 227, MPI_CHAR, p, 7, parents,
			     MPI_STATUS_IGNORE);
	for (int i = 0; i < 23; i++)
		MOVE(MPI_Bcast, 0, 229, buf, 229, MPI_CHAR, 0, parents);
}

/* In their own world, which the parents have no part in. */
static void among_themselves(void)
{
	int sum;

	for (int i = 0; i < 31; i++)
		DO(MPI_Barrier, MPI_COMM_WORLD);
	for (int i = 0; i < 19; i++)
		CALL(MPI_Sendrecv, (rank + 1) % size, 4, 4, &rank, 1, MPI_INT, (rank + 1) % size,
		     13, &sum, 1, MPI_INT, (rank + size - 1) % size, 13, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	MPI_Comm parents;

	expect_init(&argc, &argv, &rank, &size);
	MUST(size == CHILDREN);
	DO(MPI_Comm_get_parent, &parents);
	MUST(parents != MPI_COMM_NULL);
	among_themselves();
	across(parents);
	together(parents, 1);
	DO(MPI_Comm_disconnect, &parents);
	expect_finish(PROG, rank);
	return 0;
}
