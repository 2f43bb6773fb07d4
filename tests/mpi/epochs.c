/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One-sided communication with a late rank: epochs SCENE,... MILLISECONDS. Each scene has ROUNDS
 * rounds. In one round of each the last rank sleeps for MILLISECONDS:
 *
 *	fence		before a fence
 *	post		before it exposes its memory to the others, which have called MPI_Win_start
 *			and have something to put
 *	complete	before it ends its access to the memory of the others, which are in
 *			MPI_Win_wait
 *	lock		while it has an exclusive lock at rank 0 and has put something there, when
 *			the others want that lock as well
 *	lock_shared	same, where the others want a shared lock
 *
 * Or rank 0 sleeps outside MPI while the last rank puts something into its memory and synchronises:
 *
 *	flush, flush_all, unlock	by the function of that name
 *
 * epochs-notes gets a line for each call that may wait or that ends another rank's waiting: rank,
 * scene and round, call, begin, end.
 */
#include "planted.h"

#define ROUNDS 6
#define DISTURBED 3

static double local[64], *window;
static int late, at_round;
static double planted_ms;
static MPI_Win win;
static MPI_Group late_group, other_group;

static void disturb(void)
{
	if (rank == late && at_round == DISTURBED)
		sleep_ms(planted_ms);
}

/* Makes a call, the last argument, and notes it. */
#define NOTED(what, make)                                                                   \
	do {                                                                                \
		unsigned long long begin_ns = now_ns();                                     \
		make;                                                                       \
		fprintf(notes, "%d %s%d %s %llu %llu\n", rank, scene->name, at_round, what, \
			begin_ns, now_ns());                                                \
	} while (0)

static void put(int target)
{
	CALL(MPI_Put, target, 8 * 8, 0, local, 8, MPI_DOUBLE, target, 8 * rank, 8, MPI_DOUBLE, win);
}

static void fence(void)
{
	DO(MPI_Win_fence, 0, win);
	put((rank + 1) % size);
	disturb();
	NOTED("fence", DO(MPI_Win_fence, 0, win));
}

/* All others put into the late rank's memory, … */
static void post(void)
{
	if (rank == late) {
		disturb();
		NOTED("post", DO(MPI_Win_post, other_group, 0, win));
		NOTED("wait", DO(MPI_Win_wait, win));
		return;
	}
	NOTED("start", DO(MPI_Win_start, late_group, 0, win));
	put(late);
	NOTED("complete", DO(MPI_Win_complete, win));
}

/* … or the late rank puts into the memory of all others. */
static void complete(void)
{
	if (rank != late) {
		NOTED("post", DO(MPI_Win_post, late_group, 0, win));
		NOTED("wait", DO(MPI_Win_wait, win));
		return;
	}
	NOTED("start", DO(MPI_Win_start, other_group, 0, win));
	for (int i = 0; i < late; i++)
		put(i);
	disturb();
	NOTED("complete", DO(MPI_Win_complete, win));
}

/* The late rank gets the lock first; a barrier tells the others. */
static void lock(void)
{
	if (rank != late) {
		DO(MPI_Barrier, MPI_COMM_WORLD);
		NOTED("lock", CALL(MPI_Win_lock, 0, 0, 0, scene->arg, 0, 0, win));
	} else {
		CALL(MPI_Win_lock, 0, 0, 0, MPI_LOCK_EXCLUSIVE, 0, 0, win);
	}
	put(0);
	NOTED("flush", CALL(MPI_Win_flush, 0, 0, 0, 0, win));
	if (rank == late) {
		DO(MPI_Barrier, MPI_COMM_WORLD);
		disturb();
	}
	NOTED("unlock", CALL(MPI_Win_unlock, 0, 0, 0, 0, win));
}

static void target_stay_away(void)
{
	if (!rank && at_round == DISTURBED)
		sleep_ms(planted_ms);
}

/* The scene's argument: true if the last rank flushes before it unlocks. */
static void passive(void)
{
	target_stay_away();
	if (rank != late)
		return;
	CALL(MPI_Win_lock, 0, 0, 0, MPI_LOCK_SHARED, 0, 0, win);
	put(0);
	if (scene->arg)
		CALL(MPI_Win_flush, 0, 0, 0, 0, win);
	CALL(MPI_Win_unlock, 0, 0, 0, 0, win);
}

static void passive_all(void)
{
	target_stay_away();
	if (rank != late)
		return;
	DO(MPI_Win_lock_all, 0, win);
	put(0);
	DO(MPI_Win_flush_all, win);
	DO(MPI_Win_unlock_all, win);
}

static void rounds(void)
{
	for (at_round = 0; at_round < ROUNDS; at_round++) {
		if (at_round)
			DO(MPI_Barrier, MPI_COMM_WORLD);
		scene->run();
	}
}

int main(int argc, char **argv)
{
	const struct scene scenes[] = {{"fence", fence, 0},
				       {"post", post, 0},
				       {"complete", complete, 0},
				       {"lock", lock, MPI_LOCK_EXCLUSIVE},
				       {"lock_shared", lock, MPI_LOCK_SHARED},
				       {"flush", passive, 1},
				       {"unlock", passive, 0},
				       {"flush_all", passive_all, 0}};
	MPI_Group world;

	expect_init(&argc, &argv);
	MUST(argc == 3 && size > 1);
	late = size - 1;
	planted_ms = atof(argv[2]);
	notes = expect_open("epochs-notes", rank);
	DO(MPI_Comm_group, MPI_COMM_WORLD, &world);
	DO(MPI_Group_incl, world, 1, &late, &late_group);
	DO(MPI_Group_excl, world, 1, &late, &other_group);
	DO(MPI_Win_allocate, (MPI_Aint)(size * 64), sizeof(*local), MPI_INFO_NULL, MPI_COMM_WORLD,
	   &window, &win);
	SCENES_RUN(scenes, argv[1], rounds);
	DO(MPI_Win_free, &win);
	expect_finish();
	return 0;
}
