/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two jobs that meet. The parents' ranks spawn CHILDREN processes of the program named on the
 * command line (this one by another name). Both talk across the intercommunicator and in a merged
 * communicator, and part. With a second word, "each", every parent does so alone, all at once. If
 * the library cannot spawn, the refusal is a call like any other. The ranks then end normally and
 * print "spawn: REASON" on stdout.
 */
#include "expect.h"

#define PARENTS 2
#define CHILDREN 3

static char buf[2048];
static int parents = PARENTS; /* of this rank's children */

/* Spawns on all ranks or none: a library may report an error to the root only. */
static MPI_Comm spawn(char *program, MPI_Comm by)
{
	char text[MPI_MAX_ERROR_STRING];
	int codes[CHILDREN], err, n;
	MPI_Comm children;

	DO(MPI_Comm_set_errhandler, by, MPI_ERRORS_RETURN);
	err = DO(MPI_Comm_spawn, program, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, parents - 1, by,
		 &children, codes);
	if (!err)
		return children;
	DO(MPI_Error_string, err, text, &n);
	for (char *p = text; *p; p++)
		if (*p == '\n')
			*p = ' ';
	printf("spawn: %s\n", text);
	return MPI_COMM_NULL;
}

static void send(int times, int to, int bytes, int tag, MPI_Comm comm)
{
	REPEAT(times, CALL(MPI_Send, to, bytes, 0, buf, bytes, MPI_CHAR, to, tag, comm));
}

static void receive(int times, int from, int bytes, int tag, MPI_Comm comm)
{
	REPEAT(times, CALL(MPI_Recv, from, 0, bytes, buf, bytes, MPI_CHAR, from, tag, comm,
			   MPI_STATUS_IGNORE));
}

static void ring(int times, int me, int n, int tag, MPI_Comm comm)
{
	int other;

	REPEAT(times, CALL(MPI_Sendrecv, (me + 1) % n, 4, 4, &me, 1, MPI_INT, (me + 1) % n, tag,
			   &other, 1, MPI_INT, (me + n - 1) % n, tag, comm, MPI_STATUS_IGNORE));
}

/* Parent 0 talks to child 0, 1 to 1; the last child gets messages from both. */
static void parent(MPI_Comm children)
{
	int me = parents > 1 ? rank : 0;

	send(101, me, 211, 3, children);
	receive(43, me, 223, 5, children);
	send(29, CHILDREN - 1, 227, 7, children);
	REPEAT(23, MOVE(MPI_Bcast, me ? 0 : 229, 0, buf, 229, MPI_CHAR,
			me ? MPI_PROC_NULL : MPI_ROOT, children));
}

/* The children communicate first in their own world, without the parents. */
static void child(MPI_Comm others)
{
	MUST(size == CHILDREN);
	DO(MPI_Comm_remote_size, others, &parents);
	REPEAT(31, DO(MPI_Barrier, MPI_COMM_WORLD));
	ring(19, rank, size, 13, MPI_COMM_WORLD);
	if (rank < parents) {
		receive(101, rank, 211, 3, others);
		send(43, rank, 223, 5, others);
	}
	for (int p = 0; rank == CHILDREN - 1 && p < parents; p++)
		receive(29, p, 227, 7, others);
	REPEAT(23, MOVE(MPI_Bcast, 0, 229, buf, 229, MPI_CHAR, 0, others));
}

/* Communicates in one communicator: parents first, then children. */
static void together(MPI_Comm other_side, int high)
{
	MPI_Comm all;
	int me, n, sum;

	DO(MPI_Intercomm_merge, other_side, high, &all);
	DO(MPI_Comm_rank, all, &me);
	DO(MPI_Comm_size, all, &n);
	MUST(n == parents + CHILDREN);
	REPEAT(17, MOVE(MPI_Allreduce, 4, 4, &me, &sum, 1, MPI_INT, MPI_SUM, all));
	ring(13, me, n, 11, all);
	DO(MPI_Comm_free, &all);
}

int main(int argc, char **argv)
{
	MPI_Comm above, others;

	expect_init(&argc, &argv);
	DO(MPI_Comm_get_parent, &above);
	MUST(above != MPI_COMM_NULL || argc >= 2);
	if (above == MPI_COMM_NULL && argc > 2)
		parents = 1;
	MUST(above != MPI_COMM_NULL || parents == 1 || size == PARENTS);
	others = above != MPI_COMM_NULL ?
			 above :
			 spawn(argv[1], parents > 1 ? MPI_COMM_WORLD : MPI_COMM_SELF);
	if (others != MPI_COMM_NULL) {
		(others == above ? child : parent)(others);
		together(others, others == above);
		DO(MPI_Comm_disconnect, &others);
	}
	expect_finish();
	return 0;
}
