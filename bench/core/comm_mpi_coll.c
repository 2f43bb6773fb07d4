/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Collectives of struct comm in MPI. */
#include "core/comm_mpi.h"

#include "base/log.h"

#include <limits.h>

static int bytes_cnt(size_t bytes)
{
	if (bytes > INT_MAX)
		die("a block of %zu bytes; MPI's counts end at %d", bytes, INT_MAX);
	return (int)bytes;
}

void mpi_coll(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes, int root)
{
	MPI_Comm comm = mpi_of(c)->comm;
	int n = bytes_cnt(bytes), doubles = (int)(bytes / sizeof(double));

	switch (op) {
	case COMM_BARRIER:
		MPI_Barrier(comm);
		break;
	case COMM_BCAST:
		MPI_Bcast(out, n, MPI_CHAR, root, comm);
		break;
	case COMM_REDUCE:
		MPI_Reduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, root, comm);
		break;
	case COMM_GATHER:
		MPI_Gather(in, n, MPI_CHAR, out, n, MPI_CHAR, root, comm);
		break;
	case COMM_SCATTER:
		MPI_Scatter(in, n, MPI_CHAR, out, n, MPI_CHAR, root, comm);
		break;
	case COMM_ALLREDUCE:
		MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, comm);
		break;
	case COMM_ALLTOALL:
		MPI_Alltoall(in, n, MPI_CHAR, out, n, MPI_CHAR, comm);
		break;
	case COMM_ALLGATHER:
		MPI_Allgather(in, n, MPI_CHAR, out, n, MPI_CHAR, comm);
		break;
	case COMM_COLL_CNT:
		break;
	}
}

void mpi_icoll(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes, int root,
	       struct comm_request *req)
{
	MPI_Comm comm = mpi_of(c)->comm;
	MPI_Request *r = mpi_request(req);
	int n = bytes_cnt(bytes), doubles = (int)(bytes / sizeof(double));

	*r = MPI_REQUEST_NULL;
	switch (op) {
	case COMM_BARRIER:
		MPI_Ibarrier(comm, r);
		break;
	case COMM_BCAST:
		MPI_Ibcast(out, n, MPI_CHAR, root, comm, r);
		break;
	case COMM_REDUCE:
		MPI_Ireduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, root, comm, r);
		break;
	case COMM_GATHER:
		MPI_Igather(in, n, MPI_CHAR, out, n, MPI_CHAR, root, comm, r);
		break;
	case COMM_SCATTER:
		MPI_Iscatter(in, n, MPI_CHAR, out, n, MPI_CHAR, root, comm, r);
		break;
	case COMM_ALLREDUCE:
		MPI_Iallreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, comm, r);
		break;
	case COMM_ALLTOALL:
		MPI_Ialltoall(in, n, MPI_CHAR, out, n, MPI_CHAR, comm, r);
		break;
	case COMM_ALLGATHER:
		MPI_Iallgather(in, n, MPI_CHAR, out, n, MPI_CHAR, comm, r);
		break;
	case COMM_COLL_CNT:
		break;
	}
}
