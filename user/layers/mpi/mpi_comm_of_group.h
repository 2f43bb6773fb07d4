/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Communicators that only the members of a group make (MPI_Comm_create_group), whoever else their parent has. Calls belong together
 * that name the same parent, tag and group: the first of each member, the second … (MPI demands one order).
 */
#ifndef POV_LAYERS_MPI_MPI_COMM_OF_GROUP_H
#define POV_LAYERS_MPI_MPI_COMM_OF_GROUP_H

#include "layers/mpi/mpi_comm.h"

struct group_making;

/* Of which not all members have called. */
struct mpi_group_makings {
	struct group_making *oldest;
};

struct mpi_group_call {
	struct mpi_communicator *parent; /* or NULL: it is not known */
	int32_t tag;
	struct mpi_group *group; /* or NULL */
	struct mpi_member who;
	uint64_t begin_ns, end_ns;
	bool one_clock; /* as of mpi_making_join */
};

/* What a call that has returned has made: a reference. If parent or group is not known, it is nobody else's. */
struct mpi_communicator *mpi_group_makings_join(struct mpi_group_makings *m, struct mpi_comms *all,
						const struct mpi_group_call *call);
void mpi_group_makings_release(struct mpi_group_makings *m);

#endif
