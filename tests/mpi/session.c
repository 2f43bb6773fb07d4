/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sessions instead of MPI_Init: nested and one after the other, with communicators made from their
 * process sets and messages in these. MPI_COMM_WORLD does not exist. Needs MPI 4.
 */
#include "expect.h"
#include "exports.h"

#ifdef HAS_MPI_Session_init
static char buf[2][512];

static void sets_list(MPI_Session s)
{
	char name[MPI_MAX_OBJECT_NAME];
	int sets, len;

	DO(MPI_Session_get_num_psets, s, MPI_INFO_NULL, &sets);
	MUST(sets >= 2);
	for (int i = 0; i < 2; i++) {
		len = sizeof(name);
		DO(MPI_Session_get_nth_pset, s, MPI_INFO_NULL, i, &len, name);
	}
}

static MPI_Comm comm_from(MPI_Session s, const char *set)
{
	MPI_Group g;
	MPI_Comm c;

	DO(MPI_Group_from_session_pset, s, set, &g);
	DO(MPI_Comm_create_from_group, g, "povtrace", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c);
	DO(MPI_Group_free, &g);
	DO(MPI_Comm_rank, c, &rank);
	DO(MPI_Comm_size, c, &size);
	return c;
}

static void talk(MPI_Comm c, int times)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size;

	for (int i = 0; i < times; i++)
		CALL(MPI_Sendrecv, to, 307, 307, buf[0], 307, MPI_CHAR, to, 3, buf[1], 307,
		     MPI_CHAR, from, 3, c, MPI_STATUS_IGNORE);
	for (int i = 0; i < 13; i++)
		MOVE(MPI_Allgather, 17, 17 * size, buf[0], 17, MPI_CHAR, buf[1], 17, MPI_CHAR, c);
}

/* MPICH 4.0 cannot start again after the last session has ended, so the outer one stays. */
static void session(MPI_Session outer)
{
	MPI_Session inner;
	MPI_Comm self, world;

	DO(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inner);
	sets_list(inner);
	self = comm_from(inner, "mpi://SELF");
	MUST(size == 1);
	talk(self, 7);
	world = comm_from(outer, "mpi://WORLD");
	MUST(size == 2);
	talk(world, 101);
	DO(MPI_Comm_free, &self);
	DO(MPI_Session_finalize, &inner);
	talk(world, 5);
	DO(MPI_Comm_free, &world);
}

int main(void)
{
	MPI_Session outer;

	DO(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &outer);
	for (int i = 0; i < 3; i++)
		session(outer);
	DO(MPI_Session_finalize, &outer);
	expect_write(program_invocation_short_name, rank);
	return 0;
}
#else
NEEDS(MPI_Session_init)
#endif
