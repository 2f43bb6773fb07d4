/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Messages that queue at rank 0: planted_queue SCENE,... N MILLISECONDS.
 *
 *	named	the others send N requests each to rank 0. It receives from one after the other, and
 *		works MILLISECONDS for each
 *	master	same, but rank 0 receives from any source
 *	early	N messages that arrive MILLISECONDS before their receives complete
 *	pile	rank 1 sends PILE messages with different tags. Rank 0 receives them when all have
 *		arrived, the last one first
 *	posted	same, into receives that rank 0 has posted before
 *
 * planted-queue gets lines: "serves RANK from to" by rank 0, "waits RANK from to" by the others,
 * "early 1 from to".
 */
#include "planted.h"

#define BYTES 64
#define PILE 4000
#define TAG_LAST 30000

static char room[PILE][BYTES];
static int cnt;
static double ms;

/* A message has arrived when the one after it has been received. */
static void early(void)
{
	for (int i = 0; i < cnt && rank < 2; i++) {
		MPI_Request req;
		unsigned long long there_ns;

		if (rank) {
			recv_from(0, 0, 9);
			send_to(0, BYTES, 5);
			send_to(0, 0, 9);
			continue;
		}
		CALL(MPI_Irecv, 1, 0, BYTES, room, BYTES, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &req);
		send_to(1, 0, 9);
		recv_from(1, 0, 9);
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
		MOVE(MPI_Recv, 0, BYTES, message, BYTES, MPI_CHAR, source, 7, MPI_COMM_WORLD,
		     &status);
		got_ns = now_ns();
		from = status.MPI_SOURCE;
		sleep_ms(ms);
		send_to(from, BYTES, 8);
	}
}

static void ask(void)
{
	for (int i = 0; i < cnt; i++) {
		unsigned long long begin_ns;

		send_to(0, BYTES, 7);
		begin_ns = now_ns();
		recv_from(0, BYTES, 8);
		fprintf(notes, "waits %d %llu %llu\n", rank, begin_ns, now_ns());
	}
}

static void queue(void)
{
	if (rank)
		ask();
	else
		serve(scene->arg);
}

/* The message with TAG_LAST arrives after all others. */
static void pile(void)
{
	static MPI_Request reqs[PILE];
	int posted = scene->arg;

	for (int i = PILE; posted && !rank && i-- > 0;)
		CALL(MPI_Irecv, 1, 0, BYTES, room[i], BYTES, MPI_CHAR, 1, i, MPI_COMM_WORLD,
		     &reqs[i]);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	if (rank == 1) {
		for (int i = 0; i < PILE; i++)
			send_to(0, BYTES, i);
		send_to(0, 0, TAG_LAST);
	}
	if (rank)
		return;
	recv_from(1, 0, TAG_LAST);
	if (posted)
		DO(MPI_Waitall, PILE, reqs, MPI_STATUSES_IGNORE);
	for (int i = PILE; !posted && i-- > 0;)
		recv_from(1, BYTES, i);
}

static const struct scene scenes[] = {{"named", queue, 0},
				      {"master", queue, 1},
				      {"early", early, 0},
				      {"pile", pile, 0},
				      {"posted", pile, 1}};

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	MUST(argc == 4);
	cnt = atoi(argv[2]);
	ms = atof(argv[3]);
	notes = expect_open("planted-queue", rank);
	SCENES_RUN(scenes, argv[1], NULL);
	expect_finish();
	return 0;
}
