/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Long calls within which thousands of short ones are made, so that where rings are small the records of long ones
 * are lost, too. Prints "long BEGIN END", CLOCK_MONOTONIC, of a stretch within each long one.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#define LONG_CALLS 23
#define SHORT_CALLS 20011

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static unsigned long long begin[LONG_CALLS], end[LONG_CALLS];
static int calls;

static void combine(void *in, void *inout, int *len, MPI_Datatype *type)
{
	int bytes;

	begin[calls] = now_ns();
	*(double *)inout += *(double *)in;
	for (int i = *len; i <= SHORT_CALLS; i++)
		MPI_Type_size(*type, &bytes);
	end[calls++] = now_ns();
}

int main(int argc, char **argv)
{
	double a = 1, b = 2;
	MPI_Op op;

	MPI_Init(&argc, &argv);
	MPI_Op_create(combine, 1, &op);
	for (int i = 0; i < LONG_CALLS; i++)
		MPI_Reduce_local(&a, &b, 1, MPI_DOUBLE, op);
	MPI_Op_free(&op);
	MPI_Finalize();
	for (int i = 0; i < LONG_CALLS; i++)
		printf("long %llu %llu\n", begin[i], end[i]);
	return 0;
}
