/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Messages of given sizes between two ranks, one at a time: so many of each size each way, half of them by MPI_Send, the others
 * by MPI_Isend; and one synchronous one each way. Which protocol each must go by, the test works out from the library's settings.
 *
 * Usage: protocols MESSAGES BYTES…
 */
#include "expect.h"

static char *buffer;

static void pass(int rank, int i, int bytes)
{
	MPI_Request request;

	if (i % 2 != rank)
		MOVE(MPI_Recv, !rank, bytes, buffer, bytes, MPI_BYTE, !rank, bytes, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	else if (i % 4 < 2)
		CALL(MPI_Send, !rank, bytes, 0, buffer, bytes, MPI_BYTE, !rank, bytes,
		     MPI_COMM_WORLD);
	else {
		CALL(MPI_Isend, !rank, bytes, 0, buffer, bytes, MPI_BYTE, !rank, bytes,
		     MPI_COMM_WORLD, &request);
		DO(MPI_Wait, &request, MPI_STATUS_IGNORE);
	}
}

static void pass_synchronously(int rank, int turn)
{
	int number = rank;

	if (turn == rank)
		CALL(MPI_Ssend, !rank, sizeof(number), 0, &number, 1, MPI_INT, !rank, 1,
		     MPI_COMM_WORLD);
	else
		MOVE(MPI_Recv, !rank, sizeof(number), &number, 1, MPI_INT, !rank, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int messages = argc > 1 ? atoi(argv[1]) : 13;

	expect_init(&argc, &argv);
	MUST(size == 2);
	for (int at = 2; at < argc; at++) {
		int bytes = atoi(argv[at]);

		buffer = calloc(1, (size_t)bytes + 1);
		MUST(buffer);
		for (int i = 0; i < 2 * messages; i++)
			pass(rank, i, bytes);
		free(buffer);
	}
	pass_synchronously(rank, 0);
	pass_synchronously(rank, 1);
	expect_finish();
	return 0;
}
