/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls MPI from many places, and counts the calls at each: a line "sites FUNCTION NAME LINE CALLS"
 * of each rank, in POV_EXPECT/sites.<rank>. Each call is on one line, in functions that are inlined
 * and that are not, and in loops.
 */
#include "expect.h"

#define PLACES_MAX 256

static struct place {
	const char *mpi, *function;
	int line;
	long calls;
} place[PLACES_MAX];

static void note(const char *mpi, const char *function, int line)
{
	MUST(line < PLACES_MAX);
	place[line] = (struct place){mpi, function, line, place[line].calls + 1};
}

/* Keeps the compiler from merging two calls. */
#define HERE(name, ...)                                       \
	(note(#name, __func__, __LINE__), name(__VA_ARGS__)); \
	__asm__ volatile("# " #name " %0" ::"i"(__LINE__))

static __attribute__((noinline)) void exchange(int rounds)
{
	MPI_Comm all = MPI_COMM_WORLD;
	int out = rank, in, other = !rank;
	MPI_Request r[2];
	MPI_Status st[2];

	for (int i = 0; i < rounds; i++) {
		HERE(MPI_Sendrecv_replace, &out, 1, MPI_INT, other, 1, other, 1, all, &st[0]);
		HERE(MPI_Irecv, &in, 1, MPI_INT, other, 2, all, &r[0]);
		HERE(MPI_Isend, &out, 1, MPI_INT, other, 2, all, &r[1]);
		HERE(MPI_Waitall, 2, r, st);
	}
}

static inline __attribute__((always_inline)) void inlined(double *sum)
{
	HERE(MPI_Allreduce, MPI_IN_PLACE, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static __attribute__((noinline)) void twice(void)
{
	double sum = 1;

	inlined(&sum);
	inlined(&sum);
}

static void notes_write(void)
{
	FILE *f = expect_open_plain("sites", rank);

	for (int i = 0; i < PLACES_MAX; i++)
		if (place[i].calls)
			fprintf(f, "%s %s %d %ld\n", place[i].mpi, place[i].function, place[i].line,
				place[i].calls);
	MUST(!fclose(f));
}

int main(int argc, char **argv)
{
	HERE(MPI_Init, &argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* not recorded by default */
	exchange(17);
	for (int i = 0; i < 7 + 4 * rank; i++) {
		HERE(MPI_Send, &i, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	}
	twice();
	HERE(MPI_Barrier, MPI_COMM_WORLD);
	note("MPI_Finalize", __func__, __LINE__ + 2);
	notes_write();
	return MPI_Finalize();
}
