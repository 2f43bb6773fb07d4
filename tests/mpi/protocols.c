/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Messages of given sizes between two ranks, one at a time: MESSAGES of each size in each
 * direction, half of them by MPI_Send, the others by MPI_Isend; and one synchronous message in each
 * direction. The test derives each message's protocol from the library's settings.
 *
 * Usage: protocols MESSAGES BYTES…
 */
#include "expect.h"

static char *buffer;

/* The tag is the message's size. */
static void pass(int from, int bytes, int nonblocking)
{
	MPI_Request request;

	if (from != rank) {
		CALL(MPI_Recv, !rank, 0, bytes, buffer, bytes, MPI_BYTE, !rank, bytes,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (nonblocking) {
		CALL(MPI_Isend, !rank, bytes, 0, buffer, bytes, MPI_BYTE, !rank, bytes,
		     MPI_COMM_WORLD, &request);
		DO(MPI_Wait, &request, MPI_STATUS_IGNORE);
	} else {
		CALL(MPI_Send, !rank, bytes, 0, buffer, bytes, MPI_BYTE, !rank, bytes,
		     MPI_COMM_WORLD);
	}
}

static void pass_synchronously(int from)
{
	int number = rank;

	if (from == rank)
		CALL(MPI_Ssend, !rank, 4, 0, &number, 1, MPI_INT, !rank, 1, MPI_COMM_WORLD);
	else
		CALL(MPI_Recv, !rank, 0, 4, &number, 1, MPI_INT, !rank, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	MUST(size == 2 && argc > 1);
	for (int at = 2; at < argc; at++) {
		int bytes = atoi(argv[at]);

		MUST(buffer = realloc(buffer, (size_t)bytes + 1));
		for (int i = 0; i < 2 * atoi(argv[1]); i++)
			pass(i % 2, bytes, i % 4 >= 2);
	}
	pass_synchronously(0);
	pass_synchronously(1);
	expect_finish();
	return 0;
}
