/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Polls that look like the last one and are another: rank 0 polls the smaller of two receives, then from the same memory, without a call
 * in between, the larger one, whose message comes first. In the end it polls with several functions in turn. Prints "polls N": those
 * that found nothing.
 */
#include <mpi.h>
#include <stdio.h>

#define SMALL 8
#define LARGE 4000
#define ROUNDS 20
#define EACH 50

static char small[SMALL], large[LARGE];
static long polls;

static void receives_start(MPI_Request *small_req, MPI_Request *large_req)
{
	MPI_Irecv(small, SMALL, MPI_CHAR, 1, 1, MPI_COMM_WORLD, small_req);
	MPI_Irecv(large, LARGE, MPI_CHAR, 1, 2, MPI_COMM_WORLD, large_req);
}

/* Lets rank 1 send one. */
static void go(void)
{
	MPI_Send(NULL, 0, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
}

static void any(void)
{
	MPI_Request small_req, large_req, req[2];
	int flag = 0, which = 0;

	receives_start(&small_req, &large_req);
	go();
	req[0] = small_req;
	req[1] = MPI_REQUEST_NULL;
	for (int i = 0; i < EACH; i++, polls++)
		MPI_Testany(2, req, &which, &flag, MPI_STATUS_IGNORE);
	req[0] = large_req;
	while (MPI_Testany(2, req, &which, &flag, MPI_STATUS_IGNORE), !flag)
		polls++;
	go();
	MPI_Wait(&small_req, MPI_STATUS_IGNORE);
}

static void one(void)
{
	MPI_Request small_req, large_req, req;
	int flag = 0;

	receives_start(&small_req, &large_req);
	go();
	req = small_req;
	for (int i = 0; i < EACH; i++, polls++)
		MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
	req = large_req;
	while (MPI_Test(&req, &flag, MPI_STATUS_IGNORE), !flag)
		polls++;
	go();
	MPI_Wait(&small_req, MPI_STATUS_IGNORE);
}

static void in_turn(void)
{
	MPI_Request small_req, large_req;
	int flag = 0, found = 0;

	receives_start(&small_req, &large_req);
	for (int i = 0; i < EACH; i++, polls += 3) {
		MPI_Test(&small_req, &flag, MPI_STATUS_IGNORE);
		MPI_Iprobe(1, 3, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
		MPI_Test(&large_req, &flag, MPI_STATUS_IGNORE);
	}
	go();
	go();
	MPI_Wait(&large_req, MPI_STATUS_IGNORE);
	MPI_Wait(&small_req, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < ROUNDS; i++)
		for (int k = 0; k < 3; k++) {
			if (rank == 0) {
				(k == 0 ? any : k == 1 ? one : in_turn)();
				continue;
			}
			MPI_Recv(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(large, LARGE, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
			MPI_Recv(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(small, SMALL, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
		}
	if (!rank)
		printf("polls %ld\n", polls);
	MPI_Finalize();
	return 0;
}
