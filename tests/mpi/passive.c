/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One-sided communication whose target is outside MPI: passive MILLISECONDS. In each scene rank 0
 * sleeps that long, and the last rank puts something into its memory and synchronises:
 *
 *	flush		by MPI_Win_flush
 *	flush_all	by MPI_Win_flush_all
 *	unlock		by MPI_Win_unlock
 */
#include "planted.h"

static double local[64], window[64];
static double planted_ms;
static MPI_Win win;

static void put(void)
{
	CALL(MPI_Put, 0, 8 * 8, 0, local, 8, MPI_DOUBLE, 0, 0, 8, MPI_DOUBLE, win);
}

static void flush(void)
{
	CALL(MPI_Win_lock, 0, 0, 0, MPI_LOCK_SHARED, 0, 0, win);
	put();
	CALL(MPI_Win_flush, 0, 0, 0, 0, win);
	CALL(MPI_Win_unlock, 0, 0, 0, 0, win);
}

static void flush_all(void)
{
	DO(MPI_Win_lock_all, 0, win);
	put();
	DO(MPI_Win_flush_all, win);
	DO(MPI_Win_unlock_all, win);
}

static void unlock(void)
{
	CALL(MPI_Win_lock, 0, 0, 0, MPI_LOCK_SHARED, 0, 0, win);
	put();
	CALL(MPI_Win_unlock, 0, 0, 0, 0, win);
}

static void play(void)
{
	DO(MPI_Barrier, MPI_COMM_WORLD);
	if (!rank)
		sleep_ms(planted_ms);
	else if (rank == size - 1)
		scene->run();
	DO(MPI_Barrier, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	const struct scene scenes[] = {
		{"flush", flush, 0},
		{"flush_all", flush_all, 0},
		{"unlock", unlock, 0},
	};

	expect_init(&argc, &argv);
	MUST(argc == 2 && size > 1);
	planted_ms = atof(argv[1]);
	notes = expect_open("passive-notes", rank);
	DO(MPI_Win_create, window, sizeof(window), sizeof(*window), MPI_INFO_NULL, MPI_COMM_WORLD,
	   &win);
	SCENES_RUN(scenes, "flush,flush_all,unlock", play);
	DO(MPI_Win_free, &win);
	expect_finish();
	return 0;
}
