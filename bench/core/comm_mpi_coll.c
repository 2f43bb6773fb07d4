/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Collectives of struct comm on MPI. */
#include "core/comm_mpi.h"

#include "lib/log.h"

#include <limits.h>
#include <stdlib.h>

static int bytes_cnt(size_t bytes)
{
	if (bytes > INT_MAX)
		die("a block of %zu bytes; MPI's counts end at %d", bytes, INT_MAX);
	return (int)bytes;
}

/* Makes the arguments of MPI_Alltoallv in the first call with blocks of this size. */
static const struct mpi_comm *with_counts(struct comm *c, int n)
{
	struct mpi_comm *m = mpi_of(c);

	if (m->counts && m->block_bytes == n)
		return m;
	if ((size_t)n * (size_t)c->size > INT_MAX)
		die("%d blocks of %d bytes; MPI's displacements end at %d", c->size, n, INT_MAX);
	m->counts = xrealloc(m->counts, (size_t)c->size * sizeof(*m->counts));
	m->places = xrealloc(m->places, (size_t)c->size * sizeof(*m->places));
	for (int i = 0; i < c->size; i++) {
		m->counts[i] = n;
		m->places[i] = i * n;
	}
	m->block_bytes = n;
	return m;
}

/* Calls a collective, or starts it if r is not null. */
#define COLL(name, small, ...)                        \
	do {                                          \
		if (r)                                \
			MPI_I##small(__VA_ARGS__, r); \
		else                                  \
			MPI_##name(__VA_ARGS__);      \
	} while (0)

static void coll(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes,
		 int root, MPI_Request *r)
{
	MPI_Comm comm = mpi_of(c)->comm;
	const struct mpi_comm *v;
	int n = bytes_cnt(bytes), doubles = (int)(bytes / sizeof(double));

	switch (op) {
	case COMM_BARRIER:
		COLL(Barrier, barrier, comm);
		break;
	case COMM_BCAST:
		COLL(Bcast, bcast, out, n, MPI_CHAR, root, comm);
		break;
	case COMM_REDUCE:
		COLL(Reduce, reduce, in, out, doubles, MPI_DOUBLE, MPI_SUM, root, comm);
		break;
	case COMM_GATHER:
		COLL(Gather, gather, in, n, MPI_CHAR, out, n, MPI_CHAR, root, comm);
		break;
	case COMM_SCATTER:
		COLL(Scatter, scatter, in, n, MPI_CHAR, out, n, MPI_CHAR, root, comm);
		break;
	case COMM_ALLREDUCE:
		COLL(Allreduce, allreduce, in, out, doubles, MPI_DOUBLE, MPI_SUM, comm);
		break;
	case COMM_ALLTOALL:
		COLL(Alltoall, alltoall, in, n, MPI_CHAR, out, n, MPI_CHAR, comm);
		break;
	case COMM_ALLGATHER:
		COLL(Allgather, allgather, in, n, MPI_CHAR, out, n, MPI_CHAR, comm);
		break;
	case COMM_ALLTOALLV:
		v = with_counts(c, n);
		COLL(Alltoallv, alltoallv, in, v->counts, v->places, MPI_CHAR, out, v->counts,
		     v->places, MPI_CHAR, comm);
		break;
	case COMM_COLL_CNT:
		break;
	}
}

void mpi_coll(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes, int root)
{
	coll(c, op, in, out, bytes, root, NULL);
}

void mpi_icoll(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes, int root,
	       struct comm_request *req)
{
	*mpi_request(req) = MPI_REQUEST_NULL;
	coll(c, op, in, out, bytes, root, mpi_request(req));
}

/* ---- one-sided communication ---- */

/*
 * One-sided communication of struct comm on MPI. Windows come from MPI_Win_allocate, so that the
 * library chooses the memory. Synchronisation is passive target.
 */

struct comm_window {
	MPI_Win win;
};

struct comm_window *mpi_window_new(struct comm *c, size_t bytes, void **memory)
{
	struct comm_window *w = xmalloc(sizeof(*w));

	MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, mpi_of(c)->comm, memory, &w->win);
	return w;
}

void mpi_window_free(struct comm *c, struct comm_window *w)
{
	MPI_Win_free(&w->win);
	free(w);
}

void mpi_lock(struct comm *c, struct comm_window *w, int target)
{
	MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
}

void mpi_unlock(struct comm *c, struct comm_window *w, int target)
{
	MPI_Win_unlock(target, w->win);
}

void mpi_put(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
	     size_t at_bytes)
{
	int cnt = (int)m->bytes;

	MPI_Put(m->buf, cnt, MPI_CHAR, target, (MPI_Aint)at_bytes, cnt, MPI_CHAR, w->win);
}

void mpi_get(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
	     size_t at_bytes)
{
	int cnt = (int)m->bytes;

	MPI_Get(m->buf, cnt, MPI_CHAR, target, (MPI_Aint)at_bytes, cnt, MPI_CHAR, w->win);
}

void mpi_flush(struct comm *c, struct comm_window *w, int target)
{
	MPI_Win_flush(target, w->win);
}
