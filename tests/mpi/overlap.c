/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two ranks that exchange messages of BYTES: overlap SCENE,... MICROSECONDS BYTES. Some round trips
 * by blocking calls come first, then ROUNDS rounds of each scene:
 *
 *	waitall		Irecv, Isend, a computation of MICROSECONDS, Waitall
 *	persistent	same, by Startall
 *	blocking	the computation, Sendrecv
 *
 * overlap-times gets a line for each rank and round: rank, scene and round, when it began and ended
 * starting the operations, when it began and ended waiting.
 */
#include "planted.h"

#define TRIPS 13
#define ROUNDS 23

static char *out, *in;
static int bytes;
static double us;
static MPI_Request reqs[2];

/* ---- how a round starts, and how it ends ---- */

static void start_both(void)
{
	CALL(MPI_Irecv, !rank, 0, bytes, in, bytes, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &reqs[0]);
	CALL(MPI_Isend, !rank, bytes, 0, out, bytes, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &reqs[1]);
}

static void start_persistent(void)
{
	DO(MPI_Startall, 2, reqs);
}

static void start_nothing(void)
{
}

static void end(void)
{
	if (scene->run == start_nothing)
		DO(MPI_Sendrecv, out, bytes, MPI_CHAR, !rank, 5, in, bytes, MPI_CHAR, !rank, 5,
		   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		DO(MPI_Waitall, 2, reqs, MPI_STATUSES_IGNORE);
}

static void round_do(int n)
{
	unsigned long long began_ns, started_ns, wait_ns;

	DO(MPI_Barrier, MPI_COMM_WORLD);
	began_ns = now_ns();
	scene->run();
	started_ns = now_ns();
	while (now_ns() < started_ns + (unsigned long long)(us * 1000))
		;
	wait_ns = now_ns();
	end();
	fprintf(notes, "%d %d.%d %llu %llu %llu %llu\n", rank, scene->arg, n, began_ns, started_ns,
		wait_ns, now_ns());
}

static void rounds(void)
{
	int persistent = scene->run == start_persistent;

	if (persistent) {
		DO(MPI_Recv_init, in, bytes, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &reqs[0]);
		DO(MPI_Send_init, out, bytes, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &reqs[1]);
	}
	for (int n = 0; n < ROUNDS; n++)
		round_do(n);
	for (int n = 0; persistent && n < 2; n++)
		DO(MPI_Request_free, &reqs[n]);
}

static void trip(int from)
{
	if (rank == from)
		CALL(MPI_Send, !rank, bytes, 0, out, bytes, MPI_CHAR, !rank, 3, MPI_COMM_WORLD);
	else
		CALL(MPI_Recv, !rank, 0, bytes, in, bytes, MPI_CHAR, !rank, 3, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

/* The last member is the scene's number in the notes. */
static const struct scene scenes[] = {{"waitall", start_both, 0},
				      {"persistent", start_persistent, 1},
				      {"blocking", start_nothing, 2}};

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	MUST(argc == 4);
	us = atof(argv[2]);
	bytes = atoi(argv[3]);
	out = calloc(2, (size_t)bytes);
	in = out + bytes;
	notes = expect_open("overlap-times", rank);
	for (int n = 0; n < 2 * TRIPS; n++)
		trip(n % 2);
	SCENES_RUN(scenes, argv[1], rounds);
	expect_finish();
	return 0;
}
