/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shared by the files that implement struct comm on MPI; no other file includes it. */
#ifndef POVBENCH_COMM_MPI_H
#define POVBENCH_COMM_MPI_H

#include <mpi.h>
#include <sched.h>
#include <limits.h>

#include "core/comm.h"
#include "core/compute.h"
#include "core/cpu_list.h"

/* State of the process, shared by its communicators. */
struct mpi_process {
	struct compute_engine *engine;
	struct type_cache *types;
	struct progress *progress;
	cpu_set_t allowed;	    /* this rank's CPUs at the start */
	struct cpu_list node_units; /* CPUs that the node's ranks were allowed together */
	MPI_Comm node;		    /* the ranks of this node */
	int node_id;		    /* lowest rank of this node in MPI_COMM_WORLD */
	int thread_level;
};

struct mpi_comm {
	MPI_Comm comm;
	struct mpi_process *process;
	/* Arguments of MPI_Alltoallv for equal blocks of block_bytes; owned. (comm_mpi_coll.c) */
	int *counts, *places, block_bytes;
};

static inline struct mpi_comm *mpi_of(struct comm *c)
{
	return c->impl;
}

/*
 * The MPI_Request is in the first word, or in an array that requests_prepare allocated. MPI_Waitall
 * takes that array directly.
 */
static inline MPI_Request *mpi_request(struct comm_request *r)
{
	_Static_assert(sizeof(MPI_Request) <= sizeof(r->word[0]), "a request does not fit");
	return r->word[1] ? (void *)(uintptr_t)r->word[1] : (void *)&r->word[0];
}

/* Collectives (comm_mpi_coll.c). */
void mpi_coll(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes, int root);
void mpi_icoll(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes, int root,
	       struct comm_request *req);

/* One-sided communication (comm_mpi_coll.c). */
struct comm_window *mpi_window_new(struct comm *c, size_t bytes, void **memory);
void mpi_window_free(struct comm *c, struct comm_window *w);
void mpi_lock(struct comm *c, struct comm_window *w, int target);
void mpi_unlock(struct comm *c, struct comm_window *w, int target);
void mpi_put(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
	     size_t at_bytes);
void mpi_get(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
	     size_t at_bytes);
void mpi_flush(struct comm *c, struct comm_window *w, int target);

/* Threads, binding and sleep (comm_mpi_process.c). */
struct mpi_process *mpi_process_new(int thread_level);
void mpi_process_free(struct mpi_process *p);
void mpi_progress_begin(struct comm *c);
void mpi_progress_end(struct comm *c);
int mpi_pin(struct comm *c, int core);
int mpi_node(struct comm *c);
void mpi_sleep(struct comm *c, uint64_t ns);

/*
 * MPI datatypes of message layouts (comm_mpi_process.c). Each is made once, as that takes longer
 * than a short message.
 */

struct mpi_type {
	MPI_Datatype type;
	int cnt;
};

/* Type and count of a message that is not plain data, or is too long for an int. */
struct mpi_type mpi_type_of_other(struct type_cache *t, const struct comm_msg *m);

/*
 * Type and count of m, for each timed call. Ends the program if the size exceeds what a count can
 * express.
 */
static inline struct mpi_type mpi_type_of(struct comm *c, const struct comm_msg *m)
{
	if (m->layout == COMM_CONTIGUOUS && m->bytes <= INT_MAX)
		return (struct mpi_type){MPI_CHAR, (int)m->bytes};
	return mpi_type_of_other(mpi_of(c)->process->types, m);
}

/*
 * Name phases for a tracer, as in abi/mark.h, by an MPI call that does nothing without a tracer
 * (mark.c).
 */
void mpi_mark_begin(struct comm *c, int level, const char *name);
void mpi_mark_end(struct comm *c, int level);

#endif
