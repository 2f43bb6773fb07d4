/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A rank that is late once by a known time: planted SCENE,... MILLISECONDS [compute]. Each scene has ROUNDS rounds. In one of
 * them rank 1 sleeps for MILLISECONDS, or computes (uses that much CPU time),
 *	collective	before an Allreduce that rank 0 is in
 *	sender		before a send that rank 0 receives
 *	waitall		the same, where rank 0 waits for a receive and a send together
 *	receiver	before it receives what rank 0 sends by Ssend
 *	nothing		never; as sender
 *	chain		three ranks: 0 sends to 1, 1 sends to 2, and rank 0 is late
 * planted-begins gets a line for each rank and round: rank, round, when the call that may wait began, how long the rank had been
 * without a core by then (by the kernel's account), scene.
 */
#include "planted.h"

#define PROG "planted"
#define ROUNDS 40
#define DISTURBED 23

static int rank, computes;
static double planted_ms;
static char buf[16];
static unsigned long long began_ns; /* the call that may wait */

static void from_to(int sender, int receiver)
{
	if (rank == sender)
		CALL(MPI_Send, receiver, 8, 0, buf, 8, MPI_CHAR, receiver, 5, MPI_COMM_WORLD);
	if (rank == receiver)
		CALL(MPI_Recv, sender, 0, 8, buf, 8, MPI_CHAR, sender, 5, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

static void do_collective(void)
{
	int in = 1, out;

	MOVE(MPI_Allreduce, 4, 4, &in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void do_sender(void)
{
	from_to(1, 0);
}

static void do_chain(void)
{
	from_to(0, 1);
	from_to(1, 2);
}

static void do_receiver(void)
{
	if (rank)
		from_to(0, 1);
	else
		CALL(MPI_Ssend, 1, 8, 0, buf, 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
}

static void do_waitall(void)
{
	MPI_Request reqs[2];

	if (rank) {
		from_to(1, 0);
		CALL(MPI_Recv, 0, 0, 8, buf, 8, MPI_CHAR, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		return;
	}
	CALL(MPI_Irecv, 1, 0, 8, buf, 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &reqs[0]);
	CALL(MPI_Isend, 1, 8, 0, buf + 8, 8, MPI_CHAR, 1, 6, MPI_COMM_WORLD, &reqs[1]);
	began_ns = now_ns();
	DO(MPI_Waitall, 2, reqs, MPI_STATUSES_IGNORE);
}

static const struct scene {
	const char *name;
	void (*run)(void);
	int late_rank;
} scenes[] = {{"collective", do_collective, 1}, {"sender", do_sender, 1},
	      {"waitall", do_waitall, 1},	{"receiver", do_receiver, 1},
	      {"nothing", do_sender, -1},	{"chain", do_chain, 0}};

static void scene_play(const struct scene *s, FILE *notes)
{
	for (int n = 0; n < ROUNDS; n++) {
		unsigned long long until_ns = now_ns() + 1000000, coreless_ns;

		while (now_ns() < until_ns)
			;
		if (n == DISTURBED && rank == s->late_rank)
			(computes ? compute_ms : sleep_ms)(planted_ms);
		coreless_ns = waited_ns(getpid());
		began_ns = now_ns();
		s->run();
		fprintf(notes, "%d %d %llu %llu %s\n", rank, n, began_ns, coreless_ns, s->name);
	}
}

int main(int argc, char **argv)
{
	FILE *notes;

	DO(MPI_Init, &argc, &argv);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	MUST(argc == 3 || argc == 4);
	planted_ms = atof(argv[2]);
	computes = argc == 4;
	notes = expect_open("planted-begins", rank);
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (list_has(argv[1], scenes[i].name))
			scene_play(&scenes[i], notes);
	notes_close(notes);
	DO(MPI_Finalize);
	expect_write(PROG, rank);
	return 0;
}
