/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An MPI library of one rank that is really unloaded when it is closed, which the installed ones
 * may not be. It has MPICH's ABI, so that programs are compiled with MPICH's header.
 */
#include <string.h>

#define EXPORT(ret, name, args)                                                 \
	ret P##name args;                                                       \
	ret name args __attribute__((alias("P" #name), visibility("default"))); \
	ret P##name args

int MPIR_Process; /* tools recognise MPICH by this name */
static int begun, calls;

EXPORT(int, MPI_Init, (int *argc, char ***argv))
{
	calls++;
	begun = 1;
	return 0;
}

EXPORT(int, MPI_Initialized, (int *flag))
{
	calls++;
	*flag = begun;
	return 0;
}

EXPORT(int, MPI_Comm_rank, (int comm, int *rank))
{
	calls++;
	*rank = 0;
	return 0;
}

EXPORT(int, MPI_Comm_size, (int comm, int *size))
{
	calls++;
	*size = 1;
	return 0;
}

/* The handle of an MPICH datatype contains its size. */
EXPORT(int, MPI_Sendrecv,
       (const void *sbuf, int scnt, int stype, int dest, int stag, void *rbuf, int rcnt, int rtype,
	int source, int rtag, int comm, void *status))
{
	calls++;
	memcpy(rbuf, sbuf, (size_t)scnt * ((unsigned int)stype >> 8 & 255));
	return 0;
}

EXPORT(int, MPI_Barrier, (int comm))
{
	calls++;
	return 0;
}

EXPORT(int, MPI_Finalize, (void))
{
	begun = 0;
	return 0;
}
