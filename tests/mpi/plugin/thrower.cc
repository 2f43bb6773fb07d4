// SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
//
// A plug-in like module.c whose error handler throws exceptions through MPI. Its host may be in
// another language than C++, and may have called MPI before.
#include <stdexcept>

#include "expect.h"

static MPI_Comm comm;

static void handler_throw(MPI_Comm *, int *, ...)
{
	throw std::runtime_error("from a plug-in");
}

extern "C" int module_begin(void)
{
	MPI_Errhandler handler;
	int begun;

	DO(MPI_Initialized, &begun);
	if (!begun)
		DO(MPI_Init, NULL, NULL);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	DO(MPI_Comm_size, MPI_COMM_WORLD, &size);
	DO(MPI_Comm_dup, MPI_COMM_SELF, &comm);
	DO(MPI_Comm_create_errhandler, handler_throw, &handler);
	DO(MPI_Comm_set_errhandler, comm, handler);
	return rank;
}

extern "C" void module_run(int times)
{
	int out = 0, caught = 0;

	for (int i = 0; i < times; i++) {
		expect_add("MPI_Send", NO_PEER, 1, 0, 0, 0);
		try {
			MPI_Send(&out, 1, MPI_INT, 5, 0, comm);
		} catch (std::exception &) {
			caught++;
			expect_add_cut("MPI_Send", NO_PEER);
		}
	}
	printf("caught %d\n", caught);
}

extern "C" void module_books(const char *name)
{
	expect_write(name, rank);
	expect_row_cnt = 0;
}

extern "C" void module_end(void)
{
	int ended;

	DO(MPI_Finalized, &ended);
	if (!ended)
		DO(MPI_Finalize);
}
