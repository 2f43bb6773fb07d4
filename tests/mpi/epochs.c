/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One-sided communication and one rank that is late: epochs WHAT MILLISECONDS. In one of ROUNDS rounds the last rank sleeps so long,
 *	fence		before a fence
 *	post		before it exposes its memory to the other ranks, that have called MPI_Win_start and have something to put
 *	complete	before it ends its access to the memory of the others, that are in MPI_Win_wait
 *	lock		while it has an exclusive lock at rank 0 and has put something there, when the others want that lock, too
 *	lock_shared	the same, where the others want a shared one
 *	nothing		never; each of these in turn
 * Each rank notes when its calls began and ended that may wait, or end the waiting of others.
 */
#include <time.h>

#include "expect.h"

#define PROG "epochs"
#define ROUNDS 12
#define DISTURBED 7

enum { POST, START, COMPLETE, WAIT, LOCK, FLUSH, UNLOCK, FENCE, NOTES };
static const char *const note_names[NOTES] = {"post", "start", "complete", "wait",
					      "lock", "flush", "unlock",   "fence"};
static unsigned long long noted[ROUNDS][NOTES][2]; /* begin and end */

static double local[64], *window;
static int rank, size, late;
static double planted_ms;
static MPI_Win win;
static MPI_Group late_group, other_group;

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void disturb(int n)
{
	if (rank == late && n == DISTURBED && planted_ms > 0)
		usleep((unsigned int)(planted_ms * 1000));
}

/* Makes a call, which is the last argument, and notes it. */
#define NOTED(n, what, make)                  \
	do {                                  \
		noted[n][what][0] = now_ns(); \
		make;                         \
		noted[n][what][1] = now_ns(); \
	} while (0)

static void put(int target)
{
	CALL(MPI_Put, target, 8 * 8, 0, local, 8, MPI_DOUBLE, target, 8 * rank, 8, MPI_DOUBLE, win);
}

static void fenced(int n)
{
	DO(MPI_Win_fence, 0, win);
	put((rank + 1) % size);
	disturb(n);
	NOTED(n, FENCE, DO(MPI_Win_fence, 0, win));
}

/* All others put into the late rank's memory. */
static void posted(int n)
{
	if (rank == late) {
		disturb(n);
		NOTED(n, POST, DO(MPI_Win_post, other_group, 0, win));
		NOTED(n, WAIT, DO(MPI_Win_wait, win));
		return;
	}
	NOTED(n, START, DO(MPI_Win_start, late_group, 0, win));
	put(late);
	NOTED(n, COMPLETE, DO(MPI_Win_complete, win));
}

/* The late rank puts into the memory of all others. */
static void completed(int n)
{
	if (rank != late) {
		NOTED(n, POST, DO(MPI_Win_post, late_group, 0, win));
		NOTED(n, WAIT, DO(MPI_Win_wait, win));
		return;
	}
	NOTED(n, START, DO(MPI_Win_start, other_group, 0, win));
	for (int i = 0; i < late; i++)
		put(i);
	disturb(n);
	NOTED(n, COMPLETE, DO(MPI_Win_complete, win));
}

/* The late rank has the lock first: it tells the others when. */
static void locked(int n, int type)
{
	if (rank != late) {
		DO(MPI_Barrier, MPI_COMM_WORLD);
		NOTED(n, LOCK, CALL(MPI_Win_lock, 0, 0, 0, type, 0, 0, win));
		put(0);
		NOTED(n, FLUSH, CALL(MPI_Win_flush, 0, 0, 0, 0, win));
	} else {
		CALL(MPI_Win_lock, 0, 0, 0, MPI_LOCK_EXCLUSIVE, 0, 0, win);
		put(0);
		NOTED(n, FLUSH, CALL(MPI_Win_flush, 0, 0, 0, 0, win));
		DO(MPI_Barrier, MPI_COMM_WORLD);
		disturb(n);
	}
	NOTED(n, UNLOCK, CALL(MPI_Win_unlock, 0, 0, 0, 0, win));
}

static void round_do(const char *what, int n)
{
	DO(MPI_Barrier, MPI_COMM_WORLD);
	if (!strcmp(what, "fence"))
		fenced(n);
	else if (!strcmp(what, "post"))
		posted(n);
	else if (!strcmp(what, "complete"))
		completed(n);
	else
		locked(n, strcmp(what, "lock") ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE);
}

static void notes_write(void)
{
	FILE *f = expect_open("epochs-notes", rank);

	for (int n = 0; n < ROUNDS; n++)
		for (int i = 0; i < NOTES; i++)
			if (noted[n][i][1])
				fprintf(f, "%d %d %s %llu %llu\n", rank, n, note_names[i],
					noted[n][i][0], noted[n][i][1]);
	if (f != stdout)
		fclose(f);
}

int main(int argc, char **argv)
{
	static const char *const all[] = {"fence", "post", "complete", "lock", "lock_shared"};
	MPI_Group world;

	expect_init(&argc, &argv, &rank, &size);
	MUST(argc == 3 && size > 1);
	late = size - 1;
	planted_ms = strcmp(argv[1], "nothing") ? atof(argv[2]) : 0;
	DO(MPI_Comm_group, MPI_COMM_WORLD, &world);
	DO(MPI_Group_incl, world, 1, &late, &late_group);
	DO(MPI_Group_excl, world, 1, &late, &other_group);
	DO(MPI_Win_allocate, (MPI_Aint)(size * 64), sizeof(*local), MPI_INFO_NULL, MPI_COMM_WORLD,
	   &window, &win);
	for (int i = 0; i < ROUNDS; i++)
		round_do(strcmp(argv[1], "nothing") ? argv[1] : all[i % 5], i);
	DO(MPI_Win_free, &win);
	DO(MPI_Group_free, &late_group);
	DO(MPI_Group_free, &other_group);
	DO(MPI_Group_free, &world);
	expect_finish(PROG, rank);
	notes_write();
	return 0;
}
