/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Derived datatypes: one of every constructor, each sent a prime number of times. The bytes of a
 * message show whether its datatype's size was known. Only data must count, without extents and
 * holes.
 */
#include "expect.h"

#include <stddef.h>

struct particle {
	double place[3];
	int id;
	char kind;
};

static char buf[65536];

/* Sends `times` messages of cnt elements, each with `bytes` of data, from rank 0 to rank 1. */
static void ship(MPI_Datatype type, int cnt, int bytes, int times)
{
	MPI_Status st;
	int n;

	MUST(MPI_Type_size(type, &n) == MPI_SUCCESS && n == bytes);
	expect_add("MPI_Type_size", NO_PEER, 1, 0, 0, 0);
	for (int i = 0; i < times; i++)
		if (rank == 0)
			CALL(MPI_Send, 1, cnt * bytes, 0, buf, cnt, type, 1, 5, MPI_COMM_WORLD);
		else if (rank == 1)
			CALL(MPI_Recv, 0, 0, cnt * bytes, buf, cnt, type, 0, 5, MPI_COMM_WORLD,
			     &st);
}

static void ship_and_free(MPI_Datatype type, int cnt, int bytes, int times)
{
	DO(MPI_Type_commit, &type);
	ship(type, cnt, bytes, times);
	DO(MPI_Type_free, &type);
}

static void regular(void)
{
	MPI_Datatype t, base;

	DO(MPI_Type_contiguous, 7, MPI_INT, &t);
	ship_and_free(t, 3, 28, 11);
	DO(MPI_Type_vector, 5, 3, 7, MPI_DOUBLE, &t); /* 5 blocks of 3, 7 apart */
	ship_and_free(t, 2, 120, 13);
	DO(MPI_Type_create_hvector, 3, 2, (MPI_Aint)40, MPI_FLOAT, &t);
	ship_and_free(t, 1, 24, 17);
	DO(MPI_Type_contiguous, 11, MPI_SHORT, &base);
	DO(MPI_Type_vector, 2, 1, 2, base, &t); /* built on another */
	DO(MPI_Type_free, &base);
	ship_and_free(t, 1, 44, 19);
}

static void irregular(void)
{
	int lens[3] = {1, 2, 3}, at[3] = {0, 5, 11};
	MPI_Aint far[3] = {0, 24, 64};
	MPI_Datatype t;

	DO(MPI_Type_indexed, 3, lens, at, MPI_INT, &t);
	ship_and_free(t, 3, 24, 23);
	DO(MPI_Type_create_indexed_block, 3, 2, at, MPI_INT, &t);
	ship_and_free(t, 1, 24, 29);
	DO(MPI_Type_create_hindexed, 3, lens, far, MPI_DOUBLE, &t);
	ship_and_free(t, 1, 48, 31);
}

static void structured(void)
{
	int lens[3] = {3, 1, 1}, sizes[2] = {13, 17}, part[2] = {5, 7}, at[2] = {2, 3};
	MPI_Aint offs[3] = {0, offsetof(struct particle, id), offsetof(struct particle, kind)};
	MPI_Datatype kinds[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR}, t, wide, twin;

	DO(MPI_Type_create_struct, 3, lens, offs, kinds, &t);
	DO(MPI_Type_create_resized, t, (MPI_Aint)0, (MPI_Aint)sizeof(struct particle), &wide);
	DO(MPI_Type_dup, wide, &twin);
	DO(MPI_Type_commit, &t);
	ship(t, 1, 29, 37);
	DO(MPI_Type_free, &t);
	ship_and_free(wide, 41, 29, 7);
	ship_and_free(twin, 3, 29, 5);
	DO(MPI_Type_create_subarray, 2, sizes, part, at, MPI_ORDER_C, MPI_INT, &t);
	ship_and_free(t, 1, 140, 41);
}

/* Sends predefined types larger than one word: pairs for MINLOC, complex numbers. */
static void predefined(void)
{
	ship(MPI_DOUBLE_INT, 3, 12, 43);
	ship(MPI_2INT, 5, 8, 47);
	ship(MPI_C_DOUBLE_COMPLEX, 7, 16, 3);
	ship(MPI_LONG_DOUBLE, 2, 16, 2);
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	MUST(size >= 2);
	regular();
	irregular();
	structured();
	predefined();
	expect_finish();
	return 0;
}
