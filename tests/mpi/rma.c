/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One-sided communication: fences, locks, general active target, atomics. The target of an
 * operation is its peer and makes no call for it.
 */
#include "expect.h"

static double local[512], *window;
static int other;
static MPI_Win win;

/* Moves cnt doubles to or from a place in the other rank's window; more arguments follow. */
#define PUT(fn, cnt, at, ...) \
	CALL(fn, other, (cnt)*8, 0, local, cnt, MPI_DOUBLE, other, at, cnt, MPI_DOUBLE, __VA_ARGS__)
#define GET(fn, cnt, at, ...) \
	CALL(fn, other, 0, (cnt)*8, local, cnt, MPI_DOUBLE, other, at, cnt, MPI_DOUBLE, __VA_ARGS__)

static void fenced(void)
{
	DO(MPI_Win_fence, 0, win);
	for (int i = 0; i < 17; i++) {
		PUT(MPI_Put, 31, 0, win);
		DO(MPI_Win_fence, 0, win);
		GET(MPI_Get, 29, 64, win);
		DO(MPI_Win_fence, 0, win);
		PUT(MPI_Accumulate, 23, 128, MPI_SUM, win);
		DO(MPI_Win_fence, 0, win);
	}
}

static void locked(void)
{
	double was;

	for (int i = 0; i < 13; i++) {
		CALL(MPI_Win_lock, other, 0, 0, MPI_LOCK_SHARED, other, 0, win);
		PUT(MPI_Put, 37, 192, win);
		CALL(MPI_Win_flush, other, 0, 0, other, win);
		CALL(MPI_Win_unlock, other, 0, 0, other, win);
	}
	DO(MPI_Win_lock_all, 0, win);
	for (int i = 0; i < 11; i++) {
		CALL(MPI_Fetch_and_op, other, 8, 8, local, &was, MPI_DOUBLE, other, 256, MPI_SUM,
		     win);
		DO(MPI_Win_flush_all, win);
	}
	for (int i = 0; i < 7; i++) {
		CALL(MPI_Get_accumulate, other, 5 * 8, 5 * 8, local, 5, MPI_DOUBLE, local + 8, 5,
		     MPI_DOUBLE, other, 264, 5, MPI_DOUBLE, MPI_SUM, win);
		DO(MPI_Win_flush_all, win);
	}
	DO(MPI_Win_unlock_all, win);
}

static void requested(void)
{
	MPI_Request req;

	DO(MPI_Win_lock_all, 0, win);
	for (int i = 0; i < 5; i++) {
		PUT(MPI_Rput, 41, 300, win, &req);
		DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
		GET(MPI_Rget, 43, 400, win, &req);
		DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	}
	DO(MPI_Win_unlock_all, win);
}

static void agreed(void)
{
	MPI_Group all, peer;

	DO(MPI_Comm_group, MPI_COMM_WORLD, &all);
	DO(MPI_Group_incl, all, 1, &other, &peer);
	for (int i = 0; i < 3; i++) {
		if (rank == 0) {
			DO(MPI_Win_start, peer, 0, win);
			PUT(MPI_Put, 47, 0, win);
			DO(MPI_Win_complete, win);
		} else {
			DO(MPI_Win_post, peer, 0, win);
			DO(MPI_Win_wait, win);
		}
	}
	DO(MPI_Group_free, &peer);
	DO(MPI_Group_free, &all);
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	MUST(size == 2);
	other = 1 - rank;
	DO(MPI_Win_allocate, (MPI_Aint)sizeof(local), sizeof(*local), MPI_INFO_NULL, MPI_COMM_WORLD,
	   &window, &win);
	fenced();
	locked();
	requested();
	agreed();
	DO(MPI_Win_free, &win);
	expect_finish();
	return 0;
}
