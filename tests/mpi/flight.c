/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * flight PAUSE_US COUNT: numbered calls, for a recorder that keeps the newest part. Each rank
 * exchanges messages with itself, with pauses of PAUSE_US, in a communicator created at the start.
 * The tag is the message's number. Before every 47th message all ranks meet in MPI_Allreduce.
 * SIGUSR1 keeps a rank from the next meeting until SIGUSR2. SIGTERM to any rank ends the job.
 *
 * Prints "flight RANK PID" when it has started, and "late RANK" when a rank stays away. In
 * $POV_EXPECT, meeting.RANK has the last meeting of a rank. flight.RANK has a line for each
 * message: number (hexadecimal), times before and after the call (CLOCK_MONOTONIC, ns).
 */
#include <signal.h>

#include "expect.h"

static volatile sig_atomic_t late, over;
static FILE *book, *meetings;

static void on_signal(int sig)
{
	if (sig == SIGTERM)
		over = 1;
	else
		late = sig == SIGUSR1;
}

/* The file is complete whenever the process is killed. */
static FILE *book_open(const char *name)
{
	FILE *f = expect_open_plain(name, rank);

	MUST(!setvbuf(f, NULL, _IOLBF, BUFSIZ));
	return f;
}

static int meeting_ends_job(long meeting)
{
	int mine, all;

	if (late) {
		printf("late %d\n", rank);
		fflush(stdout);
	}
	while (late)
		usleep(1000);
	mine = over;
	rewind(meetings);
	fprintf(meetings, "%ld\n", meeting);
	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	return all;
}

static void work(MPI_Comm half, long pause_us, long most)
{
	char out[64] = "", in[64];
	unsigned long long before_ns;
	int me;

	MPI_Comm_rank(half, &me);
	for (long i = 0; i < most; i++) {
		if (i % 47 == 0 && meeting_ends_job(i / 47))
			break;
		before_ns = now_ns();
		MPI_Sendrecv(out, 11, MPI_CHAR, me, (int)i, in, 11, MPI_CHAR, me, (int)i, half,
			     MPI_STATUS_IGNORE);
		fprintf(book, "0x%lx %llu %llu\n", i, before_ns, now_ns());
		if (pause_us)
			usleep((useconds_t)pause_us);
	}
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	MPI_Comm half;

	MUST(argc == 3);
	expect_init(&argc, &argv);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	book = book_open("flight");
	meetings = book_open("meeting");
	MPI_Barrier(MPI_COMM_WORLD);
	printf("flight %d %d\n", rank, (int)getpid());
	fflush(stdout);
	work(half, atol(argv[1]), atol(argv[2]));
	MPI_Comm_free(&half);
	MPI_Finalize();
	return 0;
}
