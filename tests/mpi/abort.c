/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ends that are no ends: one rank waits in MPI_Recv for a message that never comes, and dies there.
 * Usage: abort HOW, with HOW one of
 *   abort  rank 1 calls MPI_Abort while rank 0 waits
 *   kill   rank 0 kills rank 1, which waits, by SIGKILL
 *   exit   another thread of rank 1 calls exit(7) while rank 1 waits
 *   jump   no rank dies: an error handler jumps out of MPI_Send, and the program goes on
 */
#include <setjmp.h>
#include <signal.h>

#include "expect.h"

#define PROG "abort"

static jmp_buf back;
static int rank, size;
static char buf[64];

/* Both ranks exchange 17 messages first, so that there is something to lose. */
static void exchange(void)
{
	int other = 1 - rank;

	for (int i = 0; i < 17; i++)
		CALL(MPI_Sendrecv, other, 53, 53, buf, 53, MPI_CHAR, other, 3, buf, 53, MPI_CHAR,
		     other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_for_ever(void)
{
	CUT(MPI_Recv, 1 - rank, 0, 59);
	expect_write(PROG, rank);
	MPI_Recv(buf, 59, MPI_CHAR, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void *exit_soon(void *arg)
{
	usleep(200000);
	_exit(*(int *)arg);
}

/*
 * MPICH 4.2 returns and leaves the rest to its launcher, which may kill us at any moment: both books are ready
 * before the call.
 */
static void by_abort(void)
{
	char path[512], returned[600];

	if (rank == 0)
		wait_for_ever();
	usleep(300000);
	expect_path(path, PROG, rank);
	snprintf(returned, sizeof(returned), "%s.returned", path);
	expect_add("MPI_Abort", NO_PEER, 1, 0, 0, 0);
	expect_write(PROG, rank);
	MUST(!path[0] || !rename(path, returned));
	expect_add_cut("MPI_Abort", NO_PEER);
	expect_write(PROG, rank);
	MPI_Abort(MPI_COMM_WORLD, 3);
	if (path[0])
		rename(returned, path);
}

static void by_kill(void)
{
	int pid = getpid();

	if (rank == 1) {
		CALL(MPI_Send, 0, 4, 0, &pid, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
		wait_for_ever();
	}
	CALL(MPI_Recv, 1, 0, 4, &pid, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	expect_write(PROG, rank);
	usleep(300000);
	kill(pid, SIGKILL);
	pause(); /* the launcher ends us */
}

static void by_exit(void)
{
	static int status = 7;
	pthread_t t;

	if (rank == 1) {
		MUST(!pthread_create(&t, NULL, exit_soon, &status));
		wait_for_ever();
	}
	expect_write(PROG, rank);
	pause();
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	longjmp(back, 1);
}

static void by_jump(void)
{
	MPI_Errhandler handler;
	volatile int i; /* lives across the jump */

	DO(MPI_Comm_create_errhandler, on_error, &handler);
	DO(MPI_Comm_set_errhandler, MPI_COMM_WORLD, handler);
	for (i = 0; i < 5; i++) {
		if (setjmp(back) == 0) {
			CUT(MPI_Send, 12345, 61, 0);
			MPI_Send(buf, 61, MPI_CHAR, 12345, 3, MPI_COMM_WORLD);
			MUST(!"an impossible rank was accepted");
		}
		exchange();
	}
	expect_finish(PROG, rank);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "abort";

	expect_init(&argc, &argv, &rank, &size);
	MUST(size == 2);
	exchange();
	if (!strcmp(how, "jump"))
		by_jump();
	else if (!strcmp(how, "kill"))
		by_kill();
	else if (!strcmp(how, "exit"))
		by_exit();
	else
		by_abort();
	return 0;
}
