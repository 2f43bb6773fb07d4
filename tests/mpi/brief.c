/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Cheap local calls among others: rounds of datatypes that are created, committed and freed, with a
 * collective call in each. Two of the calls fail, and one frees a datatype whose attribute
 * destructor calls MPI for some milliseconds. In each round the rank sends itself an element of a
 * datatype whose handle was another datatype's in the round before: 4 to 12 bytes. It also sends
 * two datatypes of 8 and 16 bytes that were created by equal calls. The handle that both calls pass
 * belonged to another datatype in each.
 *
 * brief ROUNDS
 */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#define TYPES 5

static int destroyed(MPI_Datatype type, int keyval, void *value, void *state)
{
	const struct timespec pause = {.tv_nsec = 5000000};

	nanosleep(&pause, NULL);
	return MPI_Barrier(MPI_COMM_SELF);
}

static MPI_Datatype vector(int cnt)
{
	MPI_Datatype type = MPI_DATATYPE_NULL;

	MPI_Type_vector(cnt, 1, 3, MPI_DOUBLE, &type);
	return type;
}

static void round_of_types(void)
{
	MPI_Datatype type;

	for (int i = 0; i < TYPES; i++) {
		type = vector(2);
		MPI_Type_commit(&type);
		MPI_Type_free(&type);
	}
}

static void send_one(MPI_Datatype type)
{
	static char from[256], to[256];

	MPI_Type_commit(&type);
	MPI_Sendrecv(from, 1, type, 0, 0, to, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MPI_Type_free(&type);
}

static void reused(int round)
{
	MPI_Datatype type, old;

	MPI_Type_contiguous(1 + round % 3, MPI_INT, &type);
	send_one(type);
	for (int ints = 1; ints <= 2; ints++) {
		MPI_Type_contiguous(ints, MPI_INT, &old);
		MPI_Type_vector(2, 1, 3, old, &type);
		send_one(type);
		MPI_Type_free(&old);
	}
}

static void slow_one(void)
{
	MPI_Datatype type = vector(2);
	int keyval;

	MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, destroyed, &keyval, NULL);
	MPI_Type_set_attr(type, keyval, NULL);
	MPI_Type_free(&type);
	MPI_Type_free_keyval(&keyval);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100, sum, one = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	for (int i = 0; i < rounds; i++) {
		round_of_types();
		reused(i);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (i == rounds / 2)
			slow_one();
	}
	vector(-1);
	vector(-2);
	MPI_Finalize();
	return sum < 1;
}
