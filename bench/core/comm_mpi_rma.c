/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One-sided communication of struct comm in MPI: windows by MPI_Win_allocate, so that the library has its choice of
 * memory, and passive target synchronisation.
 */
#include "core/comm_mpi.h"

#include "lib/log.h"

#include <stdlib.h>

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
	(void)c;
	MPI_Win_free(&w->win);
	free(w);
}

void mpi_lock(struct comm *c, struct comm_window *w, int target)
{
	(void)c;
	MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
}

void mpi_unlock(struct comm *c, struct comm_window *w, int target)
{
	(void)c;
	MPI_Win_unlock(target, w->win);
}

void mpi_put(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
	     size_t at_bytes)
{
	int cnt = (int)m->bytes;

	(void)c;
	MPI_Put(m->buf, cnt, MPI_CHAR, target, (MPI_Aint)at_bytes, cnt, MPI_CHAR, w->win);
}

void mpi_get(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
	     size_t at_bytes)
{
	int cnt = (int)m->bytes;

	(void)c;
	MPI_Get(m->buf, cnt, MPI_CHAR, target, (MPI_Aint)at_bytes, cnt, MPI_CHAR, w->win);
}

void mpi_flush(struct comm *c, struct comm_window *w, int target)
{
	(void)c;
	MPI_Win_flush(target, w->win);
}
