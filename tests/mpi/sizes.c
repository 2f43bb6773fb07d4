/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls that do not wait for others, to and from this rank alone: sizes ROUNDS SECONDS. ROUNDS
 * rounds come in a burst, then a hundred a second for SECONDS. Sizes come from counts of predefined
 * and derived datatypes, of int and MPI_Count, to MPI_PROC_NULL, one-sided, of a single element,
 * and of a collective. Prints the bytes of a message of the derived datatype.
 */
#include "expect.h"

#define DOUBLES 26
#define ELEMENTS 64

static MPI_Datatype every_other; /* every other one of DOUBLES doubles */
static MPI_Win win;

static void finish(MPI_Request *req)
{
	int flag;

	POLL_UNTIL(MPI_Test, flag, req, &flag, MPI_STATUS_IGNORE);
}

static void send_to_self(const void *out, void *in, int cnt, MPI_Datatype type, int bytes)
{
	MPI_Request req[2];

	CALL(MPI_Irecv, rank, 0, bytes, in, cnt, type, rank, 3, MPI_COMM_WORLD, &req[0]);
	CALL(MPI_Isend, rank, bytes, 0, out, cnt, type, rank, 3, MPI_COMM_WORLD, &req[1]);
	finish(&req[0]);
	finish(&req[1]);
}

/* Starts a request and completes it. */
#define FINISH(call) (call, finish(&req))

static void messages(void)
{
	static double out[DOUBLES], in[DOUBLES];
	MPI_Request req;

	send_to_self(out, in, 61, MPI_CHAR, 61);
	send_to_self(out, in, 0, MPI_DOUBLE, 0);
	send_to_self(out, in, 1, every_other, DOUBLES / 2 * sizeof(double));
	FINISH(CALL(MPI_Isend, MPI_PROC_NULL, 0, 0, out, 7, MPI_INT, MPI_PROC_NULL, 3,
		    MPI_COMM_WORLD, &req));
	FINISH(CALL(MPI_Irecv, MPI_PROC_NULL, 0, 0, in, 7, MPI_INT, MPI_PROC_NULL, 3,
		    MPI_COMM_WORLD, &req));
}

/* Calls with counts of type MPI_Count. */
static void large_counts(void)
{
#if MPI_VERSION >= 4
	static int out[3], in[3];
	MPI_Request req[2];

	CALL(MPI_Irecv_c, rank, 0, 12, in, 3, MPI_INT, rank, 4, MPI_COMM_WORLD, &req[0]);
	CALL(MPI_Isend_c, rank, 12, 0, out, 3, MPI_INT, rank, 4, MPI_COMM_WORLD, &req[1]);
	finish(&req[0]);
	finish(&req[1]);
#endif
}

static void one_sided(void)
{
	static double local[ELEMENTS], result;
	const double one = 1;

	CALL(MPI_Put, rank, 24, 0, local, 3, MPI_DOUBLE, rank, 0, 3, MPI_DOUBLE, win);
	CALL(MPI_Get, rank, 0, 16, local, 2, MPI_DOUBLE, rank, 8, 2, MPI_DOUBLE, win);
	CALL(MPI_Put, MPI_PROC_NULL, 0, 0, local, 3, MPI_DOUBLE, MPI_PROC_NULL, 0, 3, MPI_DOUBLE,
	     win);
	CALL(MPI_Accumulate, rank, 8, 0, &one, 1, MPI_DOUBLE, rank, 16, 1, MPI_DOUBLE, MPI_SUM,
	     win);
	CALL(MPI_Fetch_and_op, rank, 8, 8, &one, &result, MPI_DOUBLE, rank, 17, MPI_SUM, win);
}

static void round_make(void)
{
	const int one = 1;
	MPI_Request req;
	int sum;

	messages();
	large_counts();
	one_sided();
	FINISH(MOVE(MPI_Iallreduce, 4, 4, &one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &req));
}

static void rounds_make(int burst, double seconds)
{
	unsigned long long until;

	DO(MPI_Win_lock_all, 0, win);
	for (int i = 0; i < burst; i++)
		round_make();
	for (until = now_ns() + (unsigned long long)(seconds * 1e9); now_ns() < until;
	     usleep(10000)) {
		round_make();
		DO(MPI_Win_flush_all, win);
	}
	DO(MPI_Win_unlock_all, win);
}

int main(int argc, char **argv)
{
	double *shared;

	expect_init(&argc, &argv);
	DO(MPI_Type_vector, DOUBLES / 2, 1, 2, MPI_DOUBLE, &every_other);
	DO(MPI_Type_commit, &every_other);
	DO(MPI_Win_allocate, ELEMENTS * sizeof(*shared), sizeof(*shared), MPI_INFO_NULL,
	   MPI_COMM_WORLD, &shared, &win);
	if (!rank)
		printf("derived %d\n", (int)(DOUBLES / 2 * sizeof(double)));
	fflush(stdout);
	MUST(argc == 3);
	rounds_make(atoi(argv[1]), atof(argv[2]));
	DO(MPI_Win_free, &win);
	DO(MPI_Type_free, &every_other);
	expect_finish();
	return 0;
}
