/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Messages that queue at rank 0: planted_queue WHAT N [MILLISECONDS].
 *	master		the others ask rank 0 for something N times each, and it serves who asks, from any source, for so long each
 *	named		the same, where rank 0 asks for the messages of one rank after the other
 *	pile		rank 1 sends N messages, each with a tag of its own; rank 0 receives them when all have come, the last one first
 *	posted		the same, into receives that were posted before
 *	early		N messages, each of which has come to a receive for so long before that is completed; the others do nothing
 * Of a master, each rank notes when it was at what: rank 0 "serves RANK from to", the others "waits RANK from to".
 */
#include <time.h>

#include "expect.h"

#define PROG "planted_queue"
#define BYTES 64
#define TAG_LAST 30000

static int rank, size;

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* A message is there when the one behind it has been received. */
static void come_early(int n, double ms)
{
	FILE *notes = expect_open("planted-queue", rank);
	char buf[BYTES] = "";

	for (int i = 0; i < n && rank < 2; i++) {
		MPI_Request req;
		unsigned long long there_ns;

		if (rank) {
			CALL(MPI_Recv, 0, 0, 0, buf, 0, MPI_CHAR, 0, 9, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
			CALL(MPI_Send, 0, BYTES, 0, buf, BYTES, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
			CALL(MPI_Send, 0, 0, 0, buf, 0, MPI_CHAR, 0, 9, MPI_COMM_WORLD);
			continue;
		}
		CALL(MPI_Irecv, 1, 0, BYTES, buf, BYTES, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &req);
		CALL(MPI_Send, 1, 0, 0, buf, 0, MPI_CHAR, 1, 9, MPI_COMM_WORLD);
		CALL(MPI_Recv, 1, 0, 0, buf, 0, MPI_CHAR, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		there_ns = now_ns();
		usleep((unsigned int)(ms * 1000));
		fprintf(notes, "early 1 %llu %llu\n", there_ns, now_ns());
		DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	}
	if (notes != stdout)
		fclose(notes);
}

/* Serves all the others so often each. */
static void serve(int n, double ms, int any)
{
	FILE *notes = expect_open("planted-queue", rank);
	unsigned long long got_ns = 0;
	char buf[BYTES] = "";
	MPI_Status status;
	int from = -1;

	for (int i = 0; i < n * (size - 1); i++) {
		int source = 1 + i % (size - 1);

		if (from >= 0)
			fprintf(notes, "serves %d %llu %llu\n", from, got_ns, now_ns());
		MOVE(MPI_Recv, 0, BYTES, buf, BYTES, MPI_CHAR, any ? MPI_ANY_SOURCE : source, 7,
		     MPI_COMM_WORLD, &status);
		got_ns = now_ns();
		from = status.MPI_SOURCE;
		usleep((unsigned int)(ms * 1000));
		CALL(MPI_Send, from, BYTES, 0, buf, BYTES, MPI_CHAR, from, 8, MPI_COMM_WORLD);
	}
	if (notes != stdout)
		fclose(notes);
}

static void ask(int n)
{
	FILE *notes = expect_open("planted-queue", rank);
	char buf[BYTES] = "";

	for (int i = 0; i < n; i++) {
		unsigned long long begin_ns;

		CALL(MPI_Send, 0, BYTES, 0, buf, BYTES, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
		begin_ns = now_ns();
		CALL(MPI_Recv, 0, 0, BYTES, buf, BYTES, MPI_CHAR, 0, 8, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
		fprintf(notes, "waits %d %llu %llu\n", rank, begin_ns, now_ns());
	}
	if (notes != stdout)
		fclose(notes);
}

static void pile_up(int n)
{
	char buf[BYTES] = "";

	for (int i = 0; i < n; i++)
		CALL(MPI_Send, 0, BYTES, 0, buf, BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD);
	CALL(MPI_Send, 0, 0, 0, buf, 0, MPI_CHAR, 0, TAG_LAST, MPI_COMM_WORLD);
}

static void take_all(int n)
{
	char buf[BYTES];

	/* All that comes before is taken from the network, too. */
	CALL(MPI_Recv, 1, 0, 0, buf, 0, MPI_CHAR, 1, TAG_LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = n; i-- > 0;)
		CALL(MPI_Recv, 1, 0, BYTES, buf, BYTES, MPI_CHAR, 1, i, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

static MPI_Request *receives;
static char *room;

static void post_all(int n)
{
	receives = calloc(n, sizeof(*receives));
	room = calloc(n, BYTES);
	MUST(receives && room);
	for (int i = n; i-- > 0;)
		CALL(MPI_Irecv, 1, 0, BYTES, room + (size_t)i * BYTES, BYTES, MPI_CHAR, 1, i,
		     MPI_COMM_WORLD, &receives[i]);
}

static void complete_all(int n)
{
	char none[1];

	CALL(MPI_Recv, 1, 0, 0, none, 0, MPI_CHAR, 1, TAG_LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	DO(MPI_Waitall, n, receives, MPI_STATUSES_IGNORE);
	free(receives);
	free(room);
}

int main(int argc, char **argv)
{
	int n;

	DO(MPI_Init, &argc, &argv);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	DO(MPI_Comm_size, MPI_COMM_WORLD, &size);
	MUST(argc >= 3);
	n = atoi(argv[2]);
	if (!strcmp(argv[1], "posted") && !rank)
		post_all(n);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	if (!strcmp(argv[1], "master") || !strcmp(argv[1], "named")) {
		MUST(argc == 4);
		if (rank)
			ask(n);
		else
			serve(n, atof(argv[3]), !strcmp(argv[1], "master"));
	} else if (!strcmp(argv[1], "early")) {
		MUST(argc == 4);
		come_early(n, atof(argv[3]));
	} else if (rank == 1) {
		pile_up(n);
	} else if (!rank) {
		if (!strcmp(argv[1], "posted"))
			complete_all(n);
		else
			take_all(n);
	}
	DO(MPI_Finalize);
	expect_write(PROG, rank);
	return 0;
}
