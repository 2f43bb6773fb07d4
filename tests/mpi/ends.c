/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Rank 1 of two does not end well while rank 0 waits for it; calls that never return are in the
 * books. Comments in capitals mark lines that tests look for. Usage: ends HOW, with HOW one of
 *
 *   segv        writes to an address that does not exist, outside of MPI
 *   segv_in     passes a buffer that does not exist to MPI_Send
 *   abort       calls abort()
 *   mpi_abort   calls MPI_Abort with 3
 *   exit        exits with status 0 without MPI_Finalize
 *   status      exits with status 7
 *   memory      allocates memory until it is killed, 1 GiB at most
 *   kill        is killed by SIGKILL while it is in MPI_Sendrecv, by rank 0
 *   thread      another thread calls _exit(7) while it is in MPI_Sendrecv
 *   jump        no rank dies: an error handler jumps out of MPI_Send, and the program goes on
 *   normal      nothing: both ranks end well
 */
#include <setjmp.h>
#include <signal.h>

#include "expect.h"

#define EAGER_BYTES 256 /* small enough for the sender to copy */

static jmp_buf back;
static int other;
static volatile sig_atomic_t signalled;
static volatile int sink;
static char buf[64];

static void books_write(void)
{
	expect_write("ends", rank);
}

/* Exchanges 17 messages, so that there is something to lose. */
static void exchange(int unused)
{
	REPEAT(17, CALL(MPI_Sendrecv, other, 53, 53, buf, 53, MPI_CHAR, other, 3, buf, 53, MPI_CHAR,
			other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void receive_for_ever(int unused)
{
	CUT(MPI_Recv, other, 0, 59);
	books_write();
	MPI_Recv(buf, 59, MPI_CHAR, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The message tells the other rank that this one is in the call. */
static void exchange_for_ever(int unused)
{
	int pid = getpid();

	CUT(MPI_Sendrecv, other, 4, 59);
	books_write();
	MPI_Sendrecv(&pid, 1, MPI_INT, other, 5, buf, 59, MPI_CHAR, other, 7, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

/* Returns the pid of the other rank, which is in exchange_for_ever(). */
static int waiting_pid(void)
{
	int pid;

	CALL(MPI_Recv, other, 0, 4, &pid, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return pid;
}

/* ---- ends of rank 1 ---- */

static volatile int *volatile nowhere = (volatile int *)8;

__attribute__((noinline)) static void write_nowhere(int value)
{
	*nowhere = value; /* FAULT */
}

static void send_nothing(int unused)
{
	CUT(MPI_Send, other, EAGER_BYTES, 0);
	books_write();
	MPI_Send((void *)16, EAGER_BYTES, MPI_CHAR, other, 7, MPI_COMM_WORLD);
}

static void call_abort(int unused)
{
	abort();
}

static void use_memory(int unused)
{
	const size_t bytes = 4 << 20;
	char *p;

	for (int i = 0; i < 256; i++) {
		p = malloc(bytes);
		MUST(p);
		memset(p, i + 1, bytes);
		sink = p[i];
	}
}

/*
 * MPICH 4.2 returns and leaves the rest to its launcher, which may kill us at any moment. So both
 * versions of the books are ready before the call.
 */
static void abort_job(int code)
{
	char path[512], returned[600];

	waiting_pid();
	expect_path(path, "ends", rank);
	snprintf(returned, sizeof(returned), "%s.returned", path);
	expect_add("MPI_Abort", NO_PEER, 1, 0, 0, 0);
	books_write();
	MUST(!path[0] || !rename(path, returned));
	expect_add_cut("MPI_Abort", NO_PEER);
	books_write();
	MPI_Abort(MPI_COMM_WORLD, code);
	if (path[0])
		rename(returned, path);
	exit(0);
}

/* Rank 0 sends the signal to rank 1, which waits; the launcher ends rank 0. */
static void signal_other(int sig)
{
	int pid = waiting_pid();

	books_write();
	kill(pid, sig);
	pause();
}

static void on_signal(int sig)
{
	signalled = sig;
}

static void *exit_when_signalled(void *arg)
{
	while (!signalled)
		usleep(1000);
	_exit(7);
	return arg;
}

static void wait_beside_thread(int sig)
{
	pthread_t t;

	signal(sig, on_signal);
	MUST(!pthread_create(&t, NULL, exit_when_signalled, NULL));
	exchange_for_ever(0);
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
	longjmp(back, 1);
}

static void jump(int unused)
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
		exchange(0);
	}
}

static const struct {
	const char *name;
	void (*rank_0)(int arg), (*rank_1)(int arg);
	int arg;
} hows[] = {{"segv", receive_for_ever, write_nowhere, 1},
	    {"segv_in", receive_for_ever, send_nothing, 0},
	    {"abort", receive_for_ever, call_abort, 0},
	    {"mpi_abort", exchange_for_ever, abort_job, 3},
	    {"exit", receive_for_ever, exit, 0},
	    {"status", receive_for_ever, exit, 7},
	    {"memory", receive_for_ever, use_memory, 0},
	    {"kill", signal_other, exchange_for_ever, SIGKILL},
	    {"thread", signal_other, wait_beside_thread, SIGUSR1},
	    {"jump", jump, jump, 0},
	    {"normal", exchange, exchange, 0}};

int main(int argc, char **argv)
{
	size_t how = 0;

	MUST(argc == 2);
	while (strcmp(argv[1], hows[how].name))
		MUST(++how < ARRAY_SIZE(hows));
	expect_init(&argc, &argv);
	MUST(size == 2);
	other = 1 - rank;
	exchange(0);
	DO(MPI_Barrier, MPI_COMM_WORLD); /* BARRIER */
	books_write();
	(rank ? hows[how].rank_1 : hows[how].rank_0)(hows[how].arg);
	expect_finish();
	return 0;
}
