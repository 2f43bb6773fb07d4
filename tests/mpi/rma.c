/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One-sided communication: fences, locks, general active target, atomics. The target of an operation
 * is its peer; it makes no call of its own for it.
 */
#include "expect.h"

#define PROG "rma"

static double local[512], *window;
static int rank, size, other;

static void fenced(MPI_Win win)
{
	DO(MPI_Win_fence, 0, win);
	for (int i = 0; i < 17; i++) {
		CALL(MPI_Put, other, 31 * 8, 0, local, 31, MPI_DOUBLE, other, 0, 31, MPI_DOUBLE,
		     win);
		DO(MPI_Win_fence, 0, win);
		CALL(MPI_Get, other, 0, 29 * 8, local, 29, MPI_DOUBLE, other, 64, 29, MPI_DOUBLE,
		     win);
		DO(MPI_Win_fence, 0, win);
		CALL(MPI_Accumulate, other, 23 * 8, 0, local, 23, MPI_DOUBLE, other, 128, 23,
		     MPI_DOUBLE, MPI_SUM, win);
		DO(MPI_Win_fence, 0, win);
	}
}

static void locked(MPI_Win win)
{
	double was;

	for (int i = 0; i < 13; i++) {
		CALL(MPI_Win_lock, other, 0, 0, MPI_LOCK_SHARED, other, 0, win);
		CALL(MPI_Put, other, 37 * 8, 0, local, 37, MPI_DOUBLE, other, 192, 37, MPI_DOUBLE,
		     win);
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

static void requested(MPI_Win win)
{
	MPI_Request req;

	DO(MPI_Win_lock_all, 0, win);
	for (int i = 0; i < 5; i++) {
		CALL(MPI_Rput, other, 41 * 8, 0, local, 41, MPI_DOUBLE, other, 300, 41, MPI_DOUBLE,
		     win, &req);
		DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
		CALL(MPI_Rget, other, 0, 43 * 8, local, 43, MPI_DOUBLE, other, 400, 43, MPI_DOUBLE,
		     win, &req);
		DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	}
	DO(MPI_Win_unlock_all, win);
}

static void agreed(MPI_Win win)
{
	MPI_Group all, peer;

	DO(MPI_Comm_group, MPI_COMM_WORLD, &all);
	DO(MPI_Group_incl, all, 1, &other, &peer);
	for (int i = 0; i < 3; i++) {
		if (rank == 0) {
			DO(MPI_Win_start, peer, 0, win);
			CALL(MPI_Put, other, 47 * 8, 0, local, 47, MPI_DOUBLE, other, 0, 47,
			     MPI_DOUBLE, win);
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
	MPI_Win win;

	expect_init(&argc, &argv, &rank, &size);
	MUST(size == 2);
	other = 1 - rank;
	DO(MPI_Win_allocate, (MPI_Aint)sizeof(local), sizeof(*local), MPI_INFO_NULL, MPI_COMM_WORLD,
	   &window, &win);
	fenced(win);
	locked(win);
	requested(win);
	agreed(win);
	DO(MPI_Win_free, &win);
	expect_finish(PROG, rank);
	return 0;
}
