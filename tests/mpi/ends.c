/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One rank does not end well while the others wait for it. Comments in capitals mark lines that
 * tests look for.
 *
 * Usage: ends HOW, with HOW one of
 *   segv        writes to an address that does not exist, outside of MPI
 *   segv_in     passes a buffer that does not exist to MPI_Send
 *   abort       calls abort()
 *   mpi_abort   calls MPI_Abort with 3
 *   exit        exits with status 0 without MPI_Finalize
 *   status      exits with status 7
 *   kill        is killed by SIGKILL while it is in MPI_Sendrecv, by rank 0
 *   memory      allocates memory until it is killed, 1 GiB at most
 *   normal      nothing: all ranks end well
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUF_BYTES (4 << 20)
#define EAGER_BYTES 256 /* small enough for the sender to copy */

static char buf[BUF_BYTES];
static volatile int sink;

static void receive(int from)
{
	MPI_Recv(buf, BUF_BYTES, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* RECV */
}

static volatile int *volatile nowhere = (volatile int *)8;

__attribute__((noinline)) static void write_nowhere(void)
{
	*nowhere = 1; /* FAULT */
}

/* The message tells rank 0 that this rank is in the call. */
static void by_kill(void)
{
	int pid = getpid(), never;

	MPI_Sendrecv(&pid, 1, MPI_INT, 0, 1, &never, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, /* KILLED */
		     MPI_STATUS_IGNORE);
}

static void kill_other(int rank)
{
	int pid;

	MPI_Recv(&pid, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	kill(pid, SIGKILL);
}

static void by_memory(void)
{
	const size_t bytes = 4 << 20;
	char *p;

	for (int i = 0; i < 256; i++) {
		p = malloc(bytes);
		if (!p)
			exit(4);
		memset(p, i + 1, bytes);
		sink = p[i];
	}
}

static void fail(const char *how, int peer)
{
	if (!strcmp(how, "segv"))
		write_nowhere();
	else if (!strcmp(how, "segv_in"))
		MPI_Send((void *)16, EAGER_BYTES, MPI_CHAR, peer, 0, MPI_COMM_WORLD); /* SEND */
	else if (!strcmp(how, "abort"))
		abort();
	else if (!strcmp(how, "mpi_abort"))
		MPI_Abort(MPI_COMM_WORLD, 3); /* ABORT */
	else if (!strcmp(how, "status"))
		exit(7);
	else if (!strcmp(how, "kill"))
		by_kill();
	else if (!strcmp(how, "memory"))
		by_memory();
	exit(0);
}

int main(int argc, char **argv)
{
	int rank, size;

	if (argc != 2)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD); /* BARRIER */
	if (strcmp(argv[1], "normal")) {
		if (rank == 1)
			fail(argv[1], 0);
		if (!strcmp(argv[1], "kill") && rank == 0)
			kill_other(1);
		receive(1);
	}
	MPI_Finalize();
	return 0;
}
