/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Internals shared by mpi_comm.c and mpi_making.c. */
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
	/* id of an intercommunicator and number of a making → id of what is made */
	struct map two_sided;
	struct map merged; /* id → struct mpi_communicator into which two sides have merged */
	struct mpi_spawns *spawns;	 /* NULL: none */
	struct mpi_communicator *unused; /* list of those to be freed */
	bool freeing;
};

struct mpi_communicator {
	uint32_t refs, id;
	struct mpi_comms *all;
	struct mpi_group *group, *remote;
	struct mpi_group *either[2]; /* candidates for its group, until a report decides */
	struct mpi_making *makings;  /* in the order of their numbers */
	uint32_t next_number;
	bool conflict, checked;	     /* checked: the reports have been compared with the group */
	struct mpi_member *reported; /* by rank, report_size of them; job -1: no report yet */
	int32_t report_size;
	/* making whose reports place its members; a reference, or NULL */
	struct mpi_making *placing;
	bool has_context;
	uint64_t context;
	struct mpi_communicator *next_unused;
};

/* Closes the first making on parent's list: it waits for no more calls. */
void mpi_makings_close_oldest(struct mpi_communicator *parent);
void mpi_leaders_release(struct mpi_comms *all);

#endif
