/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Polls that look like the previous one but differ: rank 0 polls the smaller of two receives, then,
 * from the same memory and without a call in between, the larger one, whose message comes first. In
 * the end it polls with several functions in turn. Prints "polls N": the number of polls that found
 * nothing.
 */
#include "expect.h"

#define SMALL 8
#define LARGE 4000
#define ROUNDS 20
#define EACH 50

static char small[SMALL], large[LARGE];
static MPI_Request small_req, large_req;
static long polls;

/* Makes rank 1 send a message. */
static void go(void)
{
	MPI_Send(NULL, 0, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
}

static int test_any(MPI_Request *reqs)
{
	int flag, which;

	MPI_Testany(2, reqs, &which, &flag, MPI_STATUS_IGNORE);
	return flag;
}

static int test_one(MPI_Request *req)
{
	int flag;

	MPI_Test(req, &flag, MPI_STATUS_IGNORE);
	return flag;
}

static void same_memory(int (*test)(MPI_Request *))
{
	MPI_Request reqs[2] = {small_req, MPI_REQUEST_NULL};

	go();
	for (int i = 0; i < EACH; i++, polls++)
		test(reqs);
	reqs[0] = large_req;
	while (!test(reqs))
		polls++;
	go();
	MPI_Wait(&small_req, MPI_STATUS_IGNORE);
}

static void in_turn(void)
{
	int found;

	for (int i = 0; i < EACH; i++, polls += 3) {
		test_one(&small_req);
		MPI_Iprobe(1, 3, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
		test_one(&large_req);
	}
	go();
	go();
	MPI_Wait(&large_req, MPI_STATUS_IGNORE);
	MPI_Wait(&small_req, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	for (int i = 0; i < 3 * ROUNDS; i++) {
		if (rank) {
			MPI_Recv(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(large, LARGE, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
			MPI_Recv(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(small, SMALL, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
			continue;
		}
		MPI_Irecv(small, SMALL, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &small_req);
		MPI_Irecv(large, LARGE, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &large_req);
		if (i % 3 == 2)
			in_turn();
		else
			same_memory(i % 3 ? test_one : test_any);
	}
	if (!rank)
		printf("polls %ld\n", polls);
	MPI_Finalize();
	return 0;
}
