/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Messages that queue at rank 0: planted_queue SCENE,... N [MILLISECONDS].
 *	master	the others ask rank 0 for something N times each, and it serves them from any source, for MILLISECONDS each
 *	named	the same, where rank 0 receives from one rank after the other
 *	pile	rank 1 sends PILE messages with different tags; rank 0 receives them when all have come, the last one first
 *	posted	the same, into receives that rank 0 has posted before
 *	early	N messages that come MILLISECONDS before their receives are completed
 * planted-queue gets lines: "serves RANK from to" by rank 0, "waits RANK from to" by the others, "early 1 from to".
 */
#include "planted.h"

#define PROG "planted_queue"
#define BYTES 64
#define PILE 4000
#define TAG_LAST 30000

static char buf[BYTES], room[PILE][BYTES];
static int rank, size, cnt;
static double ms;
static FILE *notes;

static void send(int to, int bytes, int tag)
{
	CALL(MPI_Send, to, bytes, 0, buf, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD);
}

static void receive(int from, int bytes, int tag)
{
	CALL(MPI_Recv, from, 0, bytes, buf, bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD,
	     MPI_STATUS_IGNORE);
}

/* A message is there when the one behind it has been received. */
static void early(void)
{
	for (int i = 0; i < cnt && rank < 2; i++) {
		MPI_Request req;
		unsigned long long there_ns;

		if (rank) {
			receive(0, 0, 9);
			send(0, BYTES, 5);
			send(0, 0, 9);
			continue;
		}
		CALL(MPI_Irecv, 1, 0, BYTES, room, BYTES, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &req);
		send(1, 0, 9);
		receive(1, 0, 9);
		there_ns = now_ns();
		sleep_ms(ms);
		fprintf(notes, "early 1 %llu %llu\n", there_ns, now_ns());
		DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	}
}

static void serve(int any)
{
	unsigned long long got_ns = 0;
	MPI_Status status;
	int from = -1;

	for (int i = 0; i < cnt * (size - 1); i++) {
		int source = any ? MPI_ANY_SOURCE : 1 + i % (size - 1);

		if (from >= 0)
			fprintf(notes, "serves %d %llu %llu\n", from, got_ns, now_ns());
		MOVE(MPI_Recv, 0, BYTES, buf, BYTES, MPI_CHAR, source, 7, MPI_COMM_WORLD, &status);
		got_ns = now_ns();
		from = status.MPI_SOURCE;
		sleep_ms(ms);
		send(from, BYTES, 8);
	}
}

static void ask(void)
{
	for (int i = 0; i < cnt; i++) {
		unsigned long long begin_ns;

		send(0, BYTES, 7);
		begin_ns = now_ns();
		receive(0, BYTES, 8);
		fprintf(notes, "waits %d %llu %llu\n", rank, begin_ns, now_ns());
	}
}

/* The message with TAG_LAST comes behind all others. */
static void pile(int posted)
{
	static MPI_Request reqs[PILE];

	for (int i = PILE; posted && !rank && i-- > 0;)
		CALL(MPI_Irecv, 1, 0, BYTES, room[i], BYTES, MPI_CHAR, 1, i, MPI_COMM_WORLD,
		     &reqs[i]);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	if (rank == 1) {
		for (int i = 0; i < PILE; i++)
			send(0, BYTES, i);
		send(0, 0, TAG_LAST);
	}
	if (rank)
		return;
	receive(1, 0, TAG_LAST);
	if (posted)
		DO(MPI_Waitall, PILE, reqs, MPI_STATUSES_IGNORE);
	for (int i = PILE; !posted && i-- > 0;)
		receive(1, BYTES, i);
}

int main(int argc, char **argv)
{
	DO(MPI_Init, &argc, &argv);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	DO(MPI_Comm_size, MPI_COMM_WORLD, &size);
	MUST(argc == 4);
	cnt = atoi(argv[2]);
	ms = atof(argv[3]);
	notes = expect_open("planted-queue", rank);
	for (int any = 0; any < 2; any++) {
		if (!list_has(argv[1], any ? "master" : "named"))
			continue;
		DO(MPI_Barrier, MPI_COMM_WORLD);
		if (rank)
			ask();
		else
			serve(any);
	}
	if (list_has(argv[1], "early"))
		early();
	if (list_has(argv[1], "pile"))
		pile(0);
	if (list_has(argv[1], "posted"))
		pile(1);
	notes_close(notes);
	DO(MPI_Finalize);
	expect_write(PROG, rank);
	return 0;
}
