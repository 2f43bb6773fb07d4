/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two jobs that meet: the parents' ranks spawn 3 processes of the program
 * named on the command line (spawned.c, which does the other half), talk to them across the intercommunicator
 * and in a merged communicator, and part. If the library cannot spawn, the refusal is a call like any other:
 * the ranks end in order and say "spawn: REASON" on stdout.
 */
#include "expect.h"
#include "spawn.h"

#define PROG "spawn"

static int rank, size;

/* All ranks or none: a library may tell the root only. */
static int spawn(char *program, MPI_Comm *children)
{
	char text[MPI_MAX_ERROR_STRING];
	int codes[CHILDREN], err, n;

	DO(MPI_Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	err = DO(MPI_Comm_spawn, program, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 1, MPI_COMM_WORLD,
		 children, codes);
	if (!err)
		return 0;
	DO(MPI_Error_string, err, text, &n);
	for (char *p = text; *p; p++)
		if (*p == '\n')
			*p = ' ';
	printf("spawn: %s\n", text);
	return err;
}

/* Parent 0 talks to child 0, 1 to 1; the last child hears from both. */
static void across(MPI_Comm children)
{
	char buf[2048] = "";

	for (int i = 0; i < 101; i++)
		CALL(MPI_Send, rank, 211, 0, buf, 211, MPI_CHAR, rank, 3, children);
	for (int i = 0; i < 43; i++)
		CALL(MPI_Recv, rank, 0, 223, buf, 223, MPI_CHAR, rank, 5, children,
		     MPI_STATUS_IGNORE);
	for (int i = 0; i < 29; i++)
		CALL(MPI_Send, CHILDREN - 1, 227, 0, buf, 227, MPI_CHAR, CHILDREN - 1, 7, children);
	for (int i = 0; i < 23; i++)
		MOVE(MPI_Bcast, rank ? 0 : 229, 0, buf, 229, MPI_CHAR,
		     rank ? MPI_PROC_NULL : MPI_ROOT, children);
}

int main(int argc, char **argv)
{
	MPI_Comm children;

	expect_init(&argc, &argv, &rank, &size);
	MUST(size == PARENTS && argc == 2);
	if (!spawn(argv[1], &children)) {
		across(children);
		together(children, 0);
		DO(MPI_Comm_disconnect, &children);
	}
	expect_finish(PROG, rank);
	return 0;
}
