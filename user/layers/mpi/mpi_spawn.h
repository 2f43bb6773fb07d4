/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which job a call of MPI_Comm_spawn or MPI_Comm_spawn_multiple has started. The jobs that were spawned are known before the first
 * call; a call has started the one whose processes all began during the call, if its number of processes and the root that it names
 * fit, and if no other call and no other job can be meant. Otherwise the two sides stay strangers to each other
 * (PEER_UNKNOWN_OTHER).
 */
#ifndef POV_LAYERS_MPI_MPI_SPAWN_H
#define POV_LAYERS_MPI_MPI_SPAWN_H

#include "layers/mpi/mpi_comm.h"

struct mpi_spawns; /* all of a trace */

/* A job that a call has spawned. */
struct mpi_spawned {
	int32_t job, size;
	uint64_t from_ns, to_ns; /* its first and its last process began */
	struct mpi_member root;	 /* of the call, as the job was told; rank -1: unknown */
};
void mpi_spawned_add(struct mpi_comms *all, const struct mpi_spawned *spawned);

/* The call's root has called. size: of the job, -1: unknown; m: of the members of the call's communicator. */
void mpi_spawn_begin(struct mpi_comms *all, struct mpi_making *m, struct mpi_member root,
		     int32_t size, uint64_t begin_ns);
/* A member's call has returned; only the root's counts. */
void mpi_spawn_end(struct mpi_comms *all, struct mpi_making *m, struct mpi_member who, bool ok,
		   uint64_t ts_ns);

/* The children, for a member of m whose call returns now. A reference. */
struct mpi_group *mpi_spawn_children(struct mpi_comms *all, struct mpi_making *m, uint64_t now_ns);
/* The inter-communicator with its parents that all ranks of a job share. A reference. */
struct mpi_communicator *mpi_spawn_parents(struct mpi_comms *all, int32_t job, int32_t size,
					   uint64_t now_ns);

void mpi_spawns_free(struct mpi_spawns *s);

#endif
