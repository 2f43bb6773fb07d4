/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * All arguments of a call arrive. MPI_Pcontrol has any number of any type, with a PMPI tool that
 * prints them (tests/mpi/plugin/pmpi_tool.c) or without one. Functions with more than six arguments
 * have some on the stack.
 */
#include "plugin/pair.h"

#include "expect.h"

static void control(int turn)
{
	struct pair pair = {turn, 2.5 + turn, -turn};
	int (*by_pointer)(int, ...) = MPI_Pcontrol;

	DO(MPI_Pcontrol, 1);
	DO(MPI_Pcontrol, 7, "sfl", "phase", 3.25 + turn, 6l);
	DO(MPI_Pcontrol, 8, "llllllll", 1l, 2l, 3l, 4l, 5l, 6l, 7l, 8l);
	DO(MPI_Pcontrol, 9, "ffffffffff", 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5);
	DO(MPI_Pcontrol, 10, "FpdFf", 1.125l, pair, turn, 2.25l, 0.5);
	expect_add("MPI_Pcontrol", NO_PEER, 1, 0, 0, 0);
	by_pointer(11, "fdfdfdfdfs", 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, "end");
}

static void graph(void)
{
	int left = (rank + size - 1) % size, right = (rank + 1) % size, one = 1;
	int scnts[] = {1}, rcnts[] = {1}, out = 100 + rank, in = -1;
	MPI_Aint displs[] = {0};
	MPI_Datatype types[] = {MPI_INT};
	MPI_Comm ring;

	DO(MPI_Dist_graph_create_adjacent, MPI_COMM_WORLD, 1, &left, &one, 1, &right, &one,
	   MPI_INFO_NULL, 0, &ring);
	DO(MPI_Neighbor_alltoallw, &out, scnts, displs, types, &in, rcnts, displs, types, ring);
	DO(MPI_Comm_free, &ring);
	MUST(in == 100 + left);
}

/* Calls with twelve arguments, and with ten. */
static void exchange(int turn)
{
	int left = (rank + size - 1) % size, right = (rank + 1) % size, out = turn + rank, in = -1;
	int ends[] = {2, 2}, kinds[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_NONE};
	int args[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {1, 1}, bytes;
	MPI_Datatype matrix;

	CALL(MPI_Sendrecv, right, 4, 4, &out, 1, MPI_INT, right, 3, &in, 1, MPI_INT, left, 3,
	     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MUST(in == turn + left);
	DO(MPI_Type_create_darray, 1, 0, 2, ends, kinds, args, grid, MPI_ORDER_C, MPI_INT, &matrix);
	DO(MPI_Type_size, matrix, &bytes);
	DO(MPI_Type_free, &matrix);
	MUST(bytes == 4 * (int)sizeof(int));
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	for (int i = 0; i < 3; i++) {
		control(i);
		graph();
		exchange(i);
	}
	expect_finish();
	return 0;
}
