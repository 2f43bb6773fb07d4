/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shared by the files that make communicators: by one parent, of a group, and by spawning. */
#ifndef POV_LAYERS_MPI_MPI_COMM_INTERNAL_H
#define POV_LAYERS_MPI_MPI_COMM_INTERNAL_H

#include "layers/mpi/mpi_comm.h"
#include "lib/map.h"

/*
 * Communicators made by the members of a group only (MPI_Comm_create_group), not by their parent's
 * other members. Calls belong together if they name the same parent, tag and group. Each member's
 * first such call belongs to one making, its second to the next, and so on, because MPI demands one
 * order.
 */
struct group_making;

struct mpi_group_makings { /* those for which not all members have called yet */
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

/*
 * ---- mpi_spawn.c ----
 *
 * Finds the job that a call of MPI_Comm_spawn or MPI_Comm_spawn_multiple has started. The spawned
 * jobs are known before the first call. A job belongs to a call if it started all its processes
 * during the call, and has the call's number of processes and the call's root, where it reports
 * them. If another call or another job fits as well, the two sides remain unknown to each other
 * (PEER_UNKNOWN_OTHER).
 */

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
