/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A rank that is late once by a known time: planted SCENE,... MILLISECONDS [compute]. Each scene
 * has ROUNDS rounds. In one of them rank 1 sleeps for MILLISECONDS, or computes (uses that much CPU
 * time):
 *
 *	collective	before an Allreduce that rank 0 is in
 *	sender		before a send that rank 0 receives
 *	probe		same, where rank 0 is in MPI_Probe before it receives
 *	waitall		same as sender, where rank 0 waits for a receive and a send together
 *	receiver	before it receives what rank 0 sends by Ssend
 *	nothing		never; otherwise like sender
 *	chain		three ranks: 0 sends to 1, 1 sends to 2, and rank 0 is late
 *
 * planted-begins gets a line for each rank and round: rank, round, begin of the call that may wait,
 * how long the rank had been without a core by then (by the kernel's account), scene.
 */
#include "planted.h"

#define ROUNDS 40
#define DISTURBED 23

static int computes;
static double planted_ms;
static unsigned long long began_ns; /* begin of the call that may wait */

static void collective(void)
{
	int in = 1, out;

	MOVE(MPI_Allreduce, 4, 4, &in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void sender(void)
{
	pass(1, 0, 8);
}

static void probe(void)
{
	if (!rank)
		DO(MPI_Probe, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	sender();
}

static void chain(void)
{
	pass(0, 1, 8);
	pass(1, 2, 8);
}

static void receiver(void)
{
	if (rank)
		recv_from(0, 8, 5);
	else
		CALL(MPI_Ssend, 1, 8, 0, message, 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
}

static void waitall(void)
{
	MPI_Request reqs[2];

	if (rank) {
		send_to(0, 8, 5);
		recv_from(0, 8, 6);
		return;
	}
	CALL(MPI_Irecv, 1, 0, 8, message, 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &reqs[0]);
	CALL(MPI_Isend, 1, 8, 0, message + 8, 8, MPI_CHAR, 1, 6, MPI_COMM_WORLD, &reqs[1]);
	began_ns = now_ns();
	DO(MPI_Waitall, 2, reqs, MPI_STATUSES_IGNORE);
}

/* Computes for so much CPU time, nearly all of it in this function itself. */
static __attribute__((noinline)) void pair_force(double ms)
{
	unsigned long long until = clock_ns(CLOCK_THREAD_CPUTIME_ID) +
				   (unsigned long long)(ms * 1e6);
	volatile double force = 1;

	do
		for (int i = 0; i < 100000; i++)
			force = force * 0.999 + 1;
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until);
}

static void rounds(void)
{
	for (int n = 0; n < ROUNDS; n++) {
		unsigned long long until_ns = now_ns() + 1000000, coreless_ns;

		while (now_ns() < until_ns)
			;
		if (n == DISTURBED && rank == scene->arg)
			(computes ? pair_force : sleep_ms)(planted_ms);
		coreless_ns = schedstat_wait_ns(getpid());
		began_ns = now_ns();
		scene->run();
		fprintf(notes, "%d %d %llu %llu %s\n", rank, n, began_ns, coreless_ns, scene->name);
	}
}

/* The last member is the rank that is late. */
static const struct scene scenes[] = {{"collective", collective, 1},
				      {"sender", sender, 1},
				      {"waitall", waitall, 1},
				      {"receiver", receiver, 1},
				      {"nothing", sender, -1},
				      {"chain", chain, 0},
				      {"probe", probe, 1}};

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	MUST(argc == 3 || argc == 4);
	planted_ms = atof(argv[2]);
	computes = argc == 4;
	notes = expect_open("planted-begins", rank);
	SCENES_RUN(scenes, argv[1], rounds);
	expect_finish();
	return 0;
}
