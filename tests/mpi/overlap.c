/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two ranks that exchange messages of BYTES: overlap SCENE,... MICROSECONDS BYTES. First some round trips by blocking calls, then
 * ROUNDS rounds of each scene:
 *	waitall		Irecv, Isend, a computation of MICROSECONDS, Waitall
 *	persistent	the same, by Startall
 *	blocking	the computation, Sendrecv
 * overlap-times gets a line for each rank and round: rank, scene and round, when it began to start the operations, when it had
 * started them, when it began to wait and when that was over.
 */
#include "planted.h"

#define PROG "overlap"
#define TRIPS 13
#define ROUNDS 23

enum how { WAITALL, PERSISTENT, BLOCKING, HOWS };

static char *out, *in;
static int rank, bytes;
static double us;
static FILE *notes;

static void there(void)
{
	CALL(MPI_Send, !rank, bytes, 0, out, bytes, MPI_CHAR, !rank, 3, MPI_COMM_WORLD);
}

static void back(void)
{
	CALL(MPI_Recv, !rank, 0, bytes, in, bytes, MPI_CHAR, !rank, 3, MPI_COMM_WORLD,
	     MPI_STATUS_IGNORE);
}

static void start(MPI_Request *reqs, enum how how)
{
	if (how == PERSISTENT)
		DO(MPI_Startall, 2, reqs);
	if (how != WAITALL)
		return;
	CALL(MPI_Irecv, !rank, 0, bytes, in, bytes, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &reqs[0]);
	CALL(MPI_Isend, !rank, bytes, 0, out, bytes, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &reqs[1]);
}

static void round_do(enum how how, int n, MPI_Request *reqs)
{
	unsigned long long began_ns, started_ns, wait_ns;

	DO(MPI_Barrier, MPI_COMM_WORLD);
	began_ns = now_ns();
	start(reqs, how);
	started_ns = now_ns();
	while (now_ns() < started_ns + (unsigned long long)(us * 1000))
		;
	wait_ns = now_ns();
	if (how == BLOCKING)
		DO(MPI_Sendrecv, out, bytes, MPI_CHAR, !rank, 5, in, bytes, MPI_CHAR, !rank, 5,
		   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		DO(MPI_Waitall, 2, reqs, MPI_STATUSES_IGNORE);
	fprintf(notes, "%d %d.%d %llu %llu %llu %llu\n", rank, how, n, began_ns, started_ns,
		wait_ns, now_ns());
}

static void scene_play(enum how how)
{
	MPI_Request reqs[2];

	if (how == PERSISTENT) {
		DO(MPI_Recv_init, in, bytes, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &reqs[0]);
		DO(MPI_Send_init, out, bytes, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &reqs[1]);
	}
	for (int n = 0; n < ROUNDS; n++)
		round_do(how, n, reqs);
	for (int n = 0; how == PERSISTENT && n < 2; n++)
		DO(MPI_Request_free, &reqs[n]);
}

int main(int argc, char **argv)
{
	static const char *const names[HOWS] = {"waitall", "persistent", "blocking"};

	DO(MPI_Init, &argc, &argv);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	MUST(argc == 4);
	us = atof(argv[2]);
	bytes = atoi(argv[3]);
	out = calloc(2, (size_t)bytes);
	in = out + bytes;
	notes = expect_open("overlap-times", rank);
	for (int n = 0; n < TRIPS; n++) {
		(rank ? back : there)();
		(rank ? there : back)();
	}
	for (enum how how = 0; how < HOWS; how++)
		if (list_has(argv[1], names[how]))
			scene_play(how);
	notes_close(notes);
	DO(MPI_Finalize);
	free(out);
	expect_write(PROG, rank);
	return 0;
}
