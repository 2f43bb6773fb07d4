/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Tests a receive that nothing arrives for, N times (first argument), then sends itself the message and tests on until it
 * is there. What the library polls inside those tests is nested in them. One rank.
 */
#include "expect.h"

int main(int argc, char **argv)
{
	long tests = argc > 1 ? atol(argv[1]) : 10007;
	int sent = 42, got = 0, flag = 0;
	MPI_Request receive, send;

	DO(MPI_Init, &argc, &argv);
	MOVE(MPI_Irecv, 0, sizeof(got), &got, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &receive);
	for (long i = 0; i < tests; i++) {
		POLL(MPI_Test, flag, &receive, &flag, MPI_STATUS_IGNORE);
		MUST(!flag);
	}
	CALL(MPI_Isend, 0, sizeof(sent), 0, &sent, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &send);
	while (!flag)
		POLL(MPI_Test, flag, &receive, &flag, MPI_STATUS_IGNORE);
	MUST(got == sent);
	DO(MPI_Wait, &send, MPI_STATUS_IGNORE);
	expect_finish();
	return 0;
}
