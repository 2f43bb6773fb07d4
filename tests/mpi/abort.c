/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls that never return: one rank waits in MPI_Sendrecv for a message that never comes, and dies
 * there. The message that it sends by this call tells the other rank that it is in the call. Usage:
 * abort HOW, with HOW one of
 *
 *   abort  rank 1 calls MPI_Abort while rank 0 waits
 *   kill   rank 0 kills rank 1, which waits, by SIGKILL
 *   exit   another thread of rank 1 calls _exit(7) while rank 1 waits
 *   jump   no rank dies: an error handler jumps out of MPI_Send, and the program goes on
 */
#include <setjmp.h>
#include <signal.h>

#include "expect.h"

static jmp_buf back;
static int other;
static volatile sig_atomic_t told;
static char buf[64];

static void books_write(void)
{
	expect_write("abort", rank);
}

/* Exchanges 17 messages first, so that there is something to lose. */
static void exchange(void)
{
	REPEAT(17, CALL(MPI_Sendrecv, other, 53, 53, buf, 53, MPI_CHAR, other, 3, buf, 53, MPI_CHAR,
			other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void wait_for_ever(void)
{
	int pid = getpid();

	CUT(MPI_Sendrecv, other, 4, 59);
	books_write();
	MPI_Sendrecv(&pid, 1, MPI_INT, other, 5, buf, 59, MPI_CHAR, other, 7, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

/* Returns the pid of the other rank, which is in wait_for_ever(). */
static int waiting_pid(void)
{
	int pid;

	CALL(MPI_Recv, other, 0, 4, &pid, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return pid;
}

static void on_told(int sig)
{
	told = sig;
}

static void *exit_when_told(void *arg)
{
	while (!told)
		usleep(1000);
	_exit(7);
	return arg;
}

/*
 * MPICH 4.2 returns and leaves the rest to its launcher, which may kill us at any moment. So both
 * versions of the books are ready before the call.
 */
static void by_abort(void)
{
	char path[512], returned[600];

	if (rank == 0)
		wait_for_ever();
	waiting_pid();
	expect_path(path, "abort", rank);
	snprintf(returned, sizeof(returned), "%s.returned", path);
	expect_add("MPI_Abort", NO_PEER, 1, 0, 0, 0);
	books_write();
	MUST(!path[0] || !rename(path, returned));
	expect_add_cut("MPI_Abort", NO_PEER);
	books_write();
	MPI_Abort(MPI_COMM_WORLD, 3);
	if (path[0])
		rename(returned, path);
}

/* Rank 0 sends the signal to rank 1, which waits; the launcher ends rank 0. */
static void by_signal(int sig)
{
	pthread_t t;
	int pid;

	if (rank == 0) {
		pid = waiting_pid();
		books_write();
		kill(pid, sig);
		pause();
	}
	signal(SIGUSR1, on_told);
	MUST(sig == SIGKILL || !pthread_create(&t, NULL, exit_when_told, NULL));
	wait_for_ever();
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
	volatile int i; /* must survive the jump */

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
	expect_finish();
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	MUST(size == 2 && argc == 2);
	other = 1 - rank;
	exchange();
	if (!strcmp(argv[1], "jump"))
		by_jump();
	else if (!strcmp(argv[1], "abort"))
		by_abort();
	else
		by_signal(strcmp(argv[1], "kill") ? SIGUSR1 : SIGKILL);
	return 0;
}
