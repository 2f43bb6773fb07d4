/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Partitioned messages from rank 0 to rank 1, each in its own prime number: partitions marked ready one by
 * one, in ranges and in lists; polled for one by one, or waited for as a whole. Needs MPI 4.
 */
#include "expect.h"
#include "exports.h"

#define PARTS 7
/* With Open MPI 5.0.7 a receiver waits for ever as soon as two requests exist at once. */
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 5
#define HALVES 1
#else
#define HALVES 2
#endif

#ifdef HAS_MPI_Psend_init
static int buf[PARTS * 13], rank, size;
static char text[HALVES][5 * 101];

/* Backwards and late, so that the receiver's polls find nothing at first. */
static void ready_singly(MPI_Request *req)
{
	for (int i = PARTS - 1; i >= 0; i--) {
		usleep(300);
		DO(MPI_Pready, i, *req);
	}
}

static void poll_singly(MPI_Request *req)
{
	int flag;

	for (int i = 0; i < PARTS; i++)
		do
			POLL(MPI_Parrived, flag, *req, i, &flag);
		while (!flag);
}

static void singly(void)
{
	MPI_Request req;

	if (rank == 0)
		CALL(MPI_Psend_init, 1, 0, 0, buf, PARTS, 13, MPI_INT, 1, 3, MPI_COMM_WORLD,
		     MPI_INFO_NULL, &req);
	else
		CALL(MPI_Precv_init, 0, 0, 0, buf, PARTS, 13, MPI_INT, 0, 3, MPI_COMM_WORLD,
		     MPI_INFO_NULL, &req);
	for (int i = 0; i < 11; i++) {
		MOVE(MPI_Start, rank ? 0 : sizeof(buf), rank ? sizeof(buf) : 0, &req);
		if (rank == 0)
			ready_singly(&req);
		else
			poll_singly(&req);
		DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	}
	DO(MPI_Request_free, &req);
}

/* Two messages at once. */
static void in_groups(void)
{
	MPI_Request req[HALVES];
	int list[] = {4, 3};

	for (int i = 0; i < HALVES; i++)
		if (rank == 0)
			CALL(MPI_Psend_init, 1, 0, 0, text[i], 5, 101, MPI_CHAR, 1, 5 + i,
			     MPI_COMM_WORLD, MPI_INFO_NULL, &req[i]);
		else
			CALL(MPI_Precv_init, 0, 0, 0, text[i], 5, 101, MPI_CHAR, 0, 5 + i,
			     MPI_COMM_WORLD, MPI_INFO_NULL, &req[i]);
	for (int i = 0; i < 17; i++) {
		MOVE(MPI_Startall, rank ? 0 : sizeof(text), rank ? sizeof(text) : 0, HALVES, req);
		for (int k = 0; rank == 0 && k < HALVES; k++) {
			DO(MPI_Pready_range, 0, 2, req[k]);
			DO(MPI_Pready_list, 2, list, req[k]);
		}
		DO(MPI_Waitall, HALVES, req, MPI_STATUSES_IGNORE);
	}
	for (int i = 0; i < HALVES; i++)
		DO(MPI_Request_free, &req[i]);
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	MUST(size == 2);
	singly();
	in_groups();
	expect_finish();
	return 0;
}
#else
int main(void)
{
	fprintf(stderr, "part: the library has no MPI_Psend_init\n");
	return 77;
}
#endif
