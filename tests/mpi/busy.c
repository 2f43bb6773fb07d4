/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ranks that each compute until they have used so much CPU time: busy [SECONDS]. Between two barriers, the second of which is in the
 * section "together"; the computation alone is the section "busy".
 */
#include "witness.h"

#define PROG "busy"

static double compute(double seconds)
{
	double until = witness_cpu_s() + seconds;
	volatile double x = 1;

	while (witness_cpu_s() < until)
		for (int i = 0; i < 20000; i++)
			x = x * 1.0000001 + 1e-9;
	return x;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	enum { TOGETHER, BUSY };
	struct witness w[] = {{.name = "together"}, {.name = "busy", .level = 1}};
	int rank, size;

	expect_init(&argc, &argv, &rank, &size);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	witness_begin(&w[TOGETHER]);
	witness_begin(&w[BUSY]);
	compute(seconds);
	witness_end(&w[BUSY]);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	witness_end(&w[TOGETHER]);
	witness_write(w, 2, rank);
	expect_finish(PROG, rank);
	return 0;
}
