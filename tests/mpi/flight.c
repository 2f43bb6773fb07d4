/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Numbered calls, for a recorder that keeps the newest part: each rank exchanges messages with itself whose tag is their number,
 * in a communicator that is made at the very start (a split in the reverse order of the ranks), and keeps a book of when it made
 * each. Every 47th time all call MPI_Allreduce. SIGUSR1 makes a rank come 700 ms late to the next of these: a slow call
 * of all others. SIGTERM to any of them ends the job.
 *
 * flight PAUSE_US [COUNT]: so long between the calls, and so many of them at most. Prints "flight RANK PID" when it is under way.
 * The books: number (hexadecimal), time before, time behind it (CLOCK_MONOTONIC, ns), in $POV_EXPECT/flight.RANK.
 */
#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "expect.h"

struct line {
	uint64_t before_ns, behind_ns;
};

static volatile sig_atomic_t late, over;
static struct line *book;
static int rank;

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		late = 1;
	else
		over = 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void book_write(long cnt)
{
	const char *dir = getenv("POV_EXPECT");
	char path[4096];
	FILE *f;

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/flight.%d", dir, rank);
	f = fopen(path, "w");
	MUST(f);
	for (long i = 0; i < cnt; i++)
		fprintf(f, "0x%lx %llu %llu\n", i, (unsigned long long)book[i].before_ns,
			(unsigned long long)book[i].behind_ns);
	MUST(!fclose(f));
}

/* Whether the job is over. */
static int together(void)
{
	int mine, all;

	if (late) {
		late = 0;
		usleep(700000);
	}
	mine = over;
	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	return all;
}

static long work(MPI_Comm half, long pause_us, long most)
{
	char out[64] = "", in[64];
	int me;
	long i;

	MPI_Comm_rank(half, &me);
	for (i = 0; i < most; i++) {
		if (i % 47 == 0 && together())
			break;
		book[i].before_ns = now_ns();
		MPI_Sendrecv(out, 11, MPI_CHAR, me, (int)i, in, 11, MPI_CHAR, me, (int)i, half,
			     MPI_STATUS_IGNORE);
		book[i].behind_ns = now_ns();
		if (pause_us)
			usleep((useconds_t)pause_us);
	}
	return i;
}

int main(int argc, char **argv)
{
	long pause_us = argc > 1 ? atol(argv[1]) : 900, most = argc > 2 ? atol(argv[2]) : 1000000;
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	MPI_Comm half;
	long cnt;

	book = calloc((size_t)most, sizeof(*book));
	MUST(book);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	printf("flight %d %d\n", rank, (int)getpid());
	fflush(stdout);
	cnt = work(half, pause_us, most);
	book_write(cnt);
	MPI_Comm_free(&half);
	MPI_Finalize();
	return 0;
}
