/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * hangs KIND: two ranks ("cycle": four) that hang in one way. Each prints "at RANK PID" before. On
 * SIGUSR1, rank 1 of "late" makes the missing call, so that both ranks end normally.
 */
#include <signal.h>

#include "expect.h"

/* keeps the call before from becoming a jump, so that it returns here */
#define STAYS __asm__ volatile("")

static volatile sig_atomic_t signalled;
#define LARGE (4 << 20) /* bytes of a message that waits for its receiver */

static int x, y;
static char large[LARGE];

static void on_signal(int sig)
{
	signalled = 1;
}

/* Stays outside MPI until it gets the signal. */
static void away(void)
{
	while (!signalled)
		usleep(1000);
}

static void late(char **args)
{
	if (rank == 1)
		away();
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* late */
	STAYS;
}

/*
 * Ranks and tags are constants, each in a separate call, so that they can be read where the library
 * does not keep them.
 */
static void tag(char **args)
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

static void sends(char **args)
{
	if (rank == 1) {
		MPI_Ssend(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
		__asm__ volatile("# rank 1");
	} else {
		MPI_Ssend(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD); /* sends */
		__asm__ volatile("# rank 0");
	}
}

static void probe(char **args)
{
	if (rank == 1)
		away();
	else
		MPI_Probe(1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* probe */
	STAYS;
}

static void waits(char **args)
{
	MPI_Request q;

	MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE); /* waits */
	STAYS;
}

static void stopped(char **args)
{
	if (rank == 1)
		raise(SIGSTOP);
	MPI_Barrier(MPI_COMM_WORLD); /* stopped */
	STAYS;
}

/* Calls different collectives on one communicator. */
static void mismatch(char **args)
{
	if (rank == 1) {
		MPI_Barrier(MPI_COMM_WORLD);
		__asm__ volatile("# rank 1");
	} else {
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* mismatch */
		__asm__ volatile("# rank 0");
	}
}

/* Rank 0 waits for a message that was sent on another communicator. */
static void comm(char **args)
{
	MPI_Comm one, other;

	MPI_Comm_dup(MPI_COMM_WORLD, &one);
	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	if (rank == 1) {
		MPI_Send(&x, 1, MPI_INT, 0, 2, other);
		MPI_Recv(&x, 1, MPI_INT, 0, 2, other, MPI_STATUS_IGNORE);
		__asm__ volatile("# rank 1");
	} else {
		MPI_Recv(&x, 1, MPI_INT, 1, 2, one, MPI_STATUS_IGNORE); /* comm */
		__asm__ volatile("# rank 0");
	}
}

static void cycle(char **args)
{
	MPI_Send(large, LARGE, MPI_CHAR, (rank + 1) % size, 6, MPI_COMM_WORLD); /* cycle */
	STAYS;
}

/* Rank 0 keeps the lock of rank 1's window. */
static void lock(char **args)
{
	MPI_Win win;
	int *base;

	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
		MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
		MPI_Win_flush(1, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		away();
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win); /* lock */
	MPI_Put(&y, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
	MPI_Win_unlock(1, win); /* unlock */
	STAYS;
}

/* Rank 1 reads from a pipe that nobody writes to. */
static void input(char **args)
{
	int end[2];

	if (rank == 1 && !pipe(end))
		x += (int)read(end[0], &y, 1);
	MPI_Barrier(MPI_COMM_WORLD); /* input */
	STAYS;
}

/* No hang: rank 1 is late to every call, until the signal. */
static void slow(char **args)
{
	int end = 0, sum;

	for (sum = 0; !sum;) {
		if (rank == 1)
			usleep(20000);
		end = signalled;
		MPI_Allreduce(&end, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* slow */
	}
	STAYS;
}

static void *receives(void *nothing)
{
	MPI_Recv(&y, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* thread */
	STAYS;
	return nothing;
}

/* The second thread of rank 0 is in a call, and the first one waits for that thread. */
static void thread(char **args)
{
	if (rank == 0)
		threads_run(1, receives, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	STAYS;
}

int main(int argc, char **argv)
{
	static const struct mode kinds[] = {
		{"late", late},	  {"tag", tag},		{"sends", sends},	{"probe", probe},
		{"waits", waits}, {"stopped", stopped}, {"mismatch", mismatch}, {"comm", comm},
		{"cycle", cycle}, {"lock", lock},	{"input", input},	{"thread", thread},
		{"slow", slow}};

	MUST(argc > 1);
	signal(SIGUSR1, on_signal);
	expect_init_thread(&argc, &argv,
			   strcmp(argv[1], "thread") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
	REPEAT(11, MPI_Barrier(MPI_COMM_WORLD));
	printf("at %d %d\n", rank, getpid());
	fflush(stdout);
	MODE_RUN(kinds, argv + 1);
	MPI_Finalize();
	return 0;
}
