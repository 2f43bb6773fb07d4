/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Partitioned messages from rank 0 to rank 1, each with its own prime number of rounds. Partitions
 * are marked ready one by one, in ranges and in lists. The receiver polls for single ones or waits
 * for all. Needs MPI 4.
 */
#include "expect.h"
#include "exports.h"

#define PARTS 7
/* With Open MPI 5.0.7, a receiver waits for ever as soon as two requests exist at once. */
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 5
#define HALVES 1
#else
#define HALVES 2
#endif

#ifdef HAS_MPI_Psend_init
static int buf[PARTS * 13];
static char text[HALVES][5 * 101];

#define PREPARE(fn, data, parts, cnt, type, tag, req)                                            \
	CALL(fn, !rank, 0, 0, data, parts, cnt, type, !rank, tag, MPI_COMM_WORLD, MPI_INFO_NULL, \
	     req)

/*
 * Partitions become ready in reverse order and late, so that the receiver's polls find nothing at
 * first.
 */
static void singly(void)
{
	MPI_Request req;
	int flag;

	if (rank == 0)
		PREPARE(MPI_Psend_init, buf, PARTS, 13, MPI_INT, 3, &req);
	else
		PREPARE(MPI_Precv_init, buf, PARTS, 13, MPI_INT, 3, &req);
	for (int i = 0; i < 11; i++) {
		MOVE(MPI_Start, rank ? 0 : sizeof(buf), rank ? sizeof(buf) : 0, &req);
		for (int k = PARTS - 1; rank == 0 && k >= 0; k--) {
			usleep(300);
			DO(MPI_Pready, k, req);
		}
		for (int k = 0; rank == 1 && k < PARTS; k++)
			POLL_UNTIL(MPI_Parrived, flag, req, k, &flag);
		DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	}
	DO(MPI_Request_free, &req);
}

/* Sends two messages at once. */
static void in_groups(void)
{
	MPI_Request req[HALVES];
	int list[] = {4, 3};

	for (int i = 0; i < HALVES; i++)
		if (rank == 0)
			PREPARE(MPI_Psend_init, text[i], 5, 101, MPI_CHAR, 5 + i, &req[i]);
		else
			PREPARE(MPI_Precv_init, text[i], 5, 101, MPI_CHAR, 5 + i, &req[i]);
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
NEEDS(MPI_Psend_init)
#endif
