/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What the files that make struct comm of MPI share; nobody else includes it. */
#ifndef POVBENCH_COMM_MPI_H
#define POVBENCH_COMM_MPI_H

#include <mpi.h>
#include <sched.h>

#include "core/comm.h"
#include "core/comm_type.h"
#include "core/compute.h"
#include "core/cpu_list.h"

/* Of the process; the communicators that first makes have the same. */
struct mpi_process {
	struct compute_engine *engine;
	struct type_cache *types;
	struct progress *progress;
	cpu_set_t allowed;	    /* this rank, at the start */
	struct cpu_list node_units; /* that the node's ranks were allowed together */
	MPI_Comm node;		    /* the ranks of this node */
	int node_id;		    /* the first of them, by its number in all */
	int thread_level;
};

struct mpi_comm {
	MPI_Comm comm;
	struct mpi_process *process;
	/* Of MPI_Alltoallv with equal blocks of so many bytes; owned. (comm_mpi_coll.c) */
	int *counts, *places, block_bytes;
};

static inline struct mpi_comm *mpi_of(struct comm *c)
{
	return c->impl;
}

/* In the first word, or where requests_prepare made room in one row: MPI_Waitall takes them as they are. */
static inline MPI_Request *mpi_request(struct comm_request *r)
{
	_Static_assert(sizeof(MPI_Request) <= sizeof(r->word[0]), "a request does not fit");
	return r->word[1] ? (void *)(uintptr_t)r->word[1] : (void *)&r->word[0];
}

/* Collectives. (comm_mpi_coll.c) */
void mpi_coll(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes, int root);
void mpi_icoll(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes, int root,
	       struct comm_request *req);

/* One-sided. (comm_mpi_rma.c) */
struct comm_window *mpi_window_new(struct comm *c, size_t bytes, void **memory);
void mpi_window_free(struct comm *c, struct comm_window *w);
void mpi_lock(struct comm *c, struct comm_window *w, int target);
void mpi_unlock(struct comm *c, struct comm_window *w, int target);
void mpi_put(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
	     size_t at_bytes);
void mpi_get(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
	     size_t at_bytes);
void mpi_flush(struct comm *c, struct comm_window *w, int target);

/* Threads and places. (comm_mpi_process.c) */
struct mpi_process *mpi_process_new(int thread_level);
void mpi_process_free(struct mpi_process *p);
void mpi_progress_begin(struct comm *c);
void mpi_progress_end(struct comm *c);
int mpi_pin(struct comm *c, int core);
int mpi_node(struct comm *c);
void mpi_sleep(struct comm *c, uint64_t ns);

#endif
