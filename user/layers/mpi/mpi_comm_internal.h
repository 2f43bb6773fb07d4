/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What mpi_comm.c and mpi_making.c know of each other's objects. */
#ifndef POV_LAYERS_MPI_MPI_COMM_INTERNAL_H
#define POV_LAYERS_MPI_MPI_COMM_INTERNAL_H

#include "lib/map.h"
#include "layers/mpi/mpi_comm.h"
#include "layers/mpi/mpi_comm_of_group.h"
#include "layers/mpi/mpi_spawn.h"

struct mpi_leader;

struct mpi_comms {
	struct map jobs;   /* hash of the name → job + 1 */
	struct map worlds; /* job → struct mpi_communicator */
	int32_t njobs;
	uint32_t next_id;
	struct mpi_leader *leaders; /* newest first */
	struct mpi_group_makings of_groups;
	struct map
		two_sided; /* id of an intercommunicator, number of a making → id of what is made */
	struct map merged; /* its id → struct mpi_communicator that two sides have become */
	struct mpi_spawns *spawns;	 /* NULL: none */
	struct mpi_communicator *unused; /* to be freed */
	bool freeing;
};

struct mpi_communicator {
	uint32_t refs, id;
	struct mpi_comms *all;
	struct mpi_group *group, *remote;
	struct mpi_group *either[2]; /* not decided yet */
	struct mpi_making *makings;  /* by number */
	uint32_t next_number;
	bool conflict, checked;	     /* checked: the reports, against the group */
	struct mpi_member *reported; /* by rank: report_size of them, job -1 where nobody has */
	int32_t report_size;
	struct mpi_making *placing; /* by reports; a reference, or NULL */
	bool has_context;
	uint64_t context;
	struct mpi_communicator *next_unused;
};

/* The first making of those on parent's list: no more calls are waited for. */
void mpi_makings_close_oldest(struct mpi_communicator *parent);
void mpi_leaders_release(struct mpi_comms *all);

#endif
