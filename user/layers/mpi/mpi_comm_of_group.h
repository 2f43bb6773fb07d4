/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Communicators made by the members of a group only (MPI_Comm_create_group), not by their parent's
 * other members. Calls belong together if they name the same parent, tag and group. Each member's
 * first such call belongs to one making, its second to the next, and so on, as MPI demands one
 * order.
 */
#ifndef POV_LAYERS_MPI_MPI_COMM_OF_GROUP_H
#define POV_LAYERS_MPI_MPI_COMM_OF_GROUP_H

#include "layers/mpi/mpi_comm.h"

struct group_making;

/* Makings for which not all members have called yet. */
struct mpi_group_makings {
	struct group_making *oldest;
};

struct mpi_group_call {
	struct mpi_communicator *parent; /* NULL: unknown */
	int32_t tag;
	struct mpi_group *group; /* NULL: unknown */
	struct mpi_member who;
	uint64_t begin_ns, end_ns;
	bool one_clock; /* see mpi_making_join */
};

/*
 * The communicator that a returned call has made; a reference. If parent or group is unknown, it is
 * not shared.
 */
struct mpi_communicator *mpi_group_makings_join(struct mpi_group_makings *m, struct mpi_comms *all,
						const struct mpi_group_call *call);
void mpi_group_makings_release(struct mpi_group_makings *m);

#endif
