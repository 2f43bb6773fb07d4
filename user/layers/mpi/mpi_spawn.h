/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the job that a call of MPI_Comm_spawn or MPI_Comm_spawn_multiple has started. The spawned
 * jobs are known before the first call. A call's job must have started all its processes during the
 * call, and fit in its number of processes and the root that it names. If another call or another
 * job fits as well, the two sides remain unknown to each other (PEER_UNKNOWN_OTHER).
 */
#ifndef POV_LAYERS_MPI_MPI_SPAWN_H
#define POV_LAYERS_MPI_MPI_SPAWN_H

#include "layers/mpi/mpi_comm.h"

struct mpi_spawns; /* all spawns of a trace */

/* A job that a call has spawned. */
struct mpi_spawned {
	int32_t job, size;
	uint64_t from_ns, to_ns; /* start of its first and its last process */
	struct mpi_member root;	 /* root of the call, as reported by the job; rank -1: unknown */
};
void mpi_spawned_add(struct mpi_comms *all, const struct mpi_spawned *spawned);

/*
 * The root of a spawning call has entered it. size: number of spawned processes, -1: unknown. m:
 * the making of the members of the call's communicator.
 */
void mpi_spawn_begin(struct mpi_comms *all, struct mpi_making *m, struct mpi_member root,
		     int32_t size, uint64_t begin_ns);
/* A member's call has returned; only that of the root counts. */
void mpi_spawn_end(struct mpi_comms *all, struct mpi_making *m, struct mpi_member who, bool ok,
		   uint64_t ts_ns);

/* The group of children, for a member of m whose call returns now. A reference. */
struct mpi_group *mpi_spawn_children(struct mpi_comms *all, struct mpi_making *m, uint64_t now_ns);
/* The intercommunicator with their parents that all ranks of a job share. A reference. */
struct mpi_communicator *mpi_spawn_parents(struct mpi_comms *all, int32_t job, int32_t size,
					   uint64_t now_ns);

void mpi_spawns_free(struct mpi_spawns *s);

#endif
