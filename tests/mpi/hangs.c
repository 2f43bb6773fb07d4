/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * hangs KIND: two ranks that hang in one way. Each says "at RANK PID" before. With SIGUSR1 rank 1 of "late" makes the call that was missing, so that both
 * ranks end well.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STAYS __asm__ volatile("") /* the call before is no jump, so that it returns here */

static volatile sig_atomic_t told;
static int rank, x, y;

static void on_told(int sig)
{
	(void)sig;
	told = 1;
}

/* Outside MPI until it is told to go on. */
static void away(void)
{
	while (!told)
		usleep(1000);
}

static void late(void)
{
	if (rank == 1)
		away();
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* late */
	STAYS;
}

/* Ranks and tags as constants, each in a call of its own: so they can be read where the library does not keep them. */
static void tag(void)
{
	if (rank == 1) {
		MPI_Send(&x, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
		MPI_Recv(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		__asm__ volatile("# rank 1");
	} else {
		MPI_Recv(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* tag */
		__asm__ volatile("# rank 0");
	}
}

static void sends(void)
{
	if (rank == 1) {
		MPI_Ssend(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
		__asm__ volatile("# rank 1");
	} else {
		MPI_Ssend(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD); /* sends */
		__asm__ volatile("# rank 0");
	}
}

static void probe(void)
{
	if (rank == 1)
		away();
	else
		MPI_Probe(1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* probe */
	STAYS;
}

static void waits(void)
{
	MPI_Request q;

	MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE); /* waits */
	STAYS;
}

static void stopped(void)
{
	if (rank == 1)
		raise(SIGSTOP);
	MPI_Barrier(MPI_COMM_WORLD); /* stopped */
	STAYS;
}

static const struct {
	const char *name;
	void (*hang)(void);
} kinds[] = {{"late", late},   {"tag", tag},	 {"sends", sends},
	     {"probe", probe}, {"waits", waits}, {"stopped", stopped}};

int main(int argc, char **argv)
{
	signal(SIGUSR1, on_told);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 11; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	printf("at %d %d\n", rank, getpid());
	fflush(stdout);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (argc > 1 && !strcmp(argv[1], kinds[i].name))
			kinds[i].hang();
	MPI_Finalize();
	return 0;
}
