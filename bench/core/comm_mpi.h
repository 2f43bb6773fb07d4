/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What the files that make struct comm of MPI share; nobody else includes it. */
#ifndef POVBENCH_COMM_MPI_H
#define POVBENCH_COMM_MPI_H

#include <mpi.h>
#include <sched.h>

#include "core/comm.h"
#include "core/comm_type.h"
#include "core/compute.h"
#include "core/units.h"

/* Of the process; the communicators that first makes have the same. */
struct mpi_process {
	struct compute_engine *engine;
	struct type_cache *types;
	struct progress *progress;
	cpu_set_t allowed;	 /* this rank, at the start */
	struct units node_units; /* that the node's ranks were allowed together */
	MPI_Comm node;		 /* the ranks of this node */
	int node_id;		 /* the first of them, by its number in all */
	int thread_level;
};

struct mpi_comm {
	MPI_Comm comm;
	struct mpi_process *process;
};

static inline struct mpi_comm *mpi_of(struct comm *c)
{
	return c->impl;
}

static inline MPI_Request *mpi_request(struct comm_request *r)
{
	_Static_assert(sizeof(MPI_Request) <= sizeof(*r), "a request does not fit");
	return (void *)r;
}

/* Collectives. (comm_mpi_coll.c) */
void mpi_coll(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes, int root);
void mpi_icoll(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes, int root,
	       struct comm_request *req);

/* Threads and places. (comm_mpi_process.c) */
struct mpi_process *mpi_process_new(int thread_level);
void mpi_process_free(struct mpi_process *p);
void mpi_progress_begin(struct comm *c);
void mpi_progress_end(struct comm *c);
int mpi_pin(struct comm *c, int core);
int mpi_node(struct comm *c);
void mpi_sleep(struct comm *c, uint64_t ns);

#endif
