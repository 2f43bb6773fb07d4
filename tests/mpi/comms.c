/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Communicators made and freed: dup, split, create, inter-communicators, groups. Messages in each use
 * its own ranks; both halves of the split number theirs from 0. Needs an even number of ranks ≥ 2.
 */
#include "expect.h"

#define PROG "comms"

static char buf[4096];
static int rank, size;

/* Passes `times` messages round a ring of the communicator's own ranks. */
static void ring(MPI_Comm comm, int bytes, int times)
{
	int me, n;

	DO(MPI_Comm_rank, comm, &me);
	DO(MPI_Comm_size, comm, &n);
	for (int i = 0; i < times; i++)
		CALL(MPI_Sendrecv, (me + 1) % n, bytes, bytes, buf, bytes, MPI_CHAR, (me + 1) % n,
		     3, buf + 2048, bytes, MPI_CHAR, (me + n - 1) % n, 3, comm, MPI_STATUS_IGNORE);
}

static void copies(void)
{
	MPI_Comm c, d;
	MPI_Request req;

	for (int i = 0; i < 7; i++) {
		DO(MPI_Comm_dup, MPI_COMM_WORLD, &c);
		ring(c, 101, 3);
		DO(MPI_Comm_free, &c);
	}
	DO(MPI_Comm_idup, MPI_COMM_WORLD, &c, &req);
	DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	DO(MPI_Comm_dup, c, &d);
	DO(MPI_Comm_set_name, d, "a copy of a copy");
	ring(d, 103, 5);
	DO(MPI_Comm_free, &d);
	DO(MPI_Comm_free, &c);
}

static void parts(void)
{
	MPI_Comm half, solo, none;

	for (int i = 0; i < 5; i++) {
		DO(MPI_Comm_split, MPI_COMM_WORLD, rank % 2, -rank, &half);
		ring(half, 107, 7);
		MOVE(MPI_Allreduce, 4, 4, &rank, buf, 1, MPI_INT, MPI_SUM, half);
		DO(MPI_Comm_free, &half);
	}
	DO(MPI_Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &solo);
	ring(solo, 109, 11);
	DO(MPI_Comm_free, &solo);
	DO(MPI_Comm_split, MPI_COMM_WORLD, MPI_UNDEFINED, 0, &none);
	MUST(none == MPI_COMM_NULL);
}

static void groups(void)
{
	MPI_Group all, first;
	MPI_Comm c;
	int two[2] = {0, 1};

	DO(MPI_Comm_group, MPI_COMM_WORLD, &all);
	DO(MPI_Group_incl, all, 2, two, &first);
	DO(MPI_Comm_create, MPI_COMM_WORLD, first, &c);
	if (c != MPI_COMM_NULL) {
		ring(c, 113, 13);
		DO(MPI_Comm_free, &c);
	}
	DO(MPI_Group_free, &first);
	DO(MPI_Group_free, &all);
}

/* The even ranks talk to the odd ones: peers are numbered within the other group. */
static void between(void)
{
	MPI_Comm half, inter, merged;
	int me, n;

	DO(MPI_Comm_split, MPI_COMM_WORLD, rank % 2, rank, &half);
	DO(MPI_Intercomm_create, half, 0, MPI_COMM_WORLD, 1 - rank % 2, 17, &inter);
	DO(MPI_Comm_rank, inter, &me);
	DO(MPI_Comm_remote_size, inter, &n);
	MUST(n == size / 2);
	for (int i = 0; i < 19; i++)
		CALL(MPI_Sendrecv, me, 127, 127, buf, 127, MPI_CHAR, me, 7, buf + 2048, 127,
		     MPI_CHAR, me, 7, inter, MPI_STATUS_IGNORE);
	for (int i = 0; i < 17; i++)
		MOVE(MPI_Alltoall, 131 * n, 131 * n, buf, 131, MPI_CHAR, buf + 2048, 131, MPI_CHAR,
		     inter);
	DO(MPI_Intercomm_merge, inter, rank % 2, &merged);
	ring(merged, 137, 3);
	DO(MPI_Comm_free, &merged);
	DO(MPI_Comm_free, &inter);
	DO(MPI_Comm_free, &half);
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv, &rank, &size);
	MUST(size >= 2 && size % 2 == 0 && size <= 14);
	copies();
	parts();
	groups();
	between();
	expect_finish(PROG, rank);
	return 0;
}
