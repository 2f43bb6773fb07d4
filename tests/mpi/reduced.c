/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Actions of real programs that reports once got wrong: reduced MODE.
 *
 *	failed	each rank sends 22 times to a rank that does not exist, and goes on
 *	busy	barriers, with more ranks than cores
 */
#include "expect.h"

#define SENDS 22
#define BARRIERS 2000

static void failed(char **args)
{
	int x = 0;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < SENDS; i++)
		MPI_Send(&x, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD); /* FAILED */
}

static void busy(char **args)
{
	REPEAT(BARRIERS, MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {{"failed", failed}, {"busy", busy}};

	expect_init(&argc, &argv);
	MODE_RUN(modes, argv + 1);
	MPI_Finalize();
	return 0;
}
