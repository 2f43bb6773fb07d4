/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Communicators of a trace, each one object that all its members share, and who they are. A communicator is made by calls
 * of all members of another one, its parent; the n-th such call of each of them belongs together (MPI demands one order),
 * and what the calls say, taken together, tells the members: colours and keys of a split, groups, leaders.
 */
#ifndef POV_LAYERS_MPI_MPI_COMM_H
#define POV_LAYERS_MPI_MPI_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "layers/mpi/mpi_group.h"

struct mpi_comms; /* all of a trace */
struct mpi_communicator;
struct mpi_making; /* calls that together make communicators */

struct mpi_comms *mpi_comms_new(void);
/* What members of groups make by themselves (mpi_comm_of_group.h). */
struct mpi_group_makings *mpi_comms_of_groups(struct mpi_comms *all);
/* When nobody has a reference to one of its communicators any more. */
void mpi_comms_free(struct mpi_comms *all);
/* The number of a job by its launcher's name. Processes that no launcher named are jobs of their own. */
int32_t mpi_comms_job(struct mpi_comms *all, const char *name, uint32_t pid);

struct mpi_communicator *mpi_communicator_ref(struct mpi_communicator *c);
void mpi_communicator_unref(struct mpi_communicator *c);
/* A reference to a job's MPI_COMM_WORLD. */
struct mpi_communicator *mpi_comms_world(struct mpi_comms *all, int32_t job, int32_t size);
/*
 * Made by a process alone, or by others that are not known. References to the groups are taken over. remote: NULL if it is no
 * intercommunicator.
 */
struct mpi_communicator *mpi_communicator_new(struct mpi_comms *all, struct mpi_group *group,
					      struct mpi_group *remote);

uint32_t mpi_communicator_id(const struct mpi_communicator *c);
struct mpi_group *mpi_communicator_group(struct mpi_communicator *c, bool remote);
/* Who a rank in it is; of an intercommunicator a rank of the other group. c may be NULL. */
enum peer_unknown mpi_communicator_peer(struct mpi_communicator *c, int32_t rank,
					struct mpi_member *out);
/*
 * A member's own rank in it, and its size, by what the library said (-1: nothing). Contradictions make the communicator one of
 * which nothing is known.
 */
void mpi_communicator_report(struct mpi_communicator *c, struct mpi_member who, int32_t rank,
			     int32_t size);
/* Its group is one of these two behind the other one; a report will tell which. */
void mpi_communicator_merged(struct mpi_communicator *c, struct mpi_group *a, struct mpi_group *b);
/* The context id that a member's library has for it, where it is the same for all of them. */
void mpi_communicator_context(struct mpi_communicator *c, uint64_t context);

/* ---- making ---- */

/* What one member's call says. */
struct mpi_part {
	struct mpi_member who;
	int32_t parent_rank;
	bool takes_part; /* in what is made: a colour was given */
	bool placed;	 /* by mpi_making_place */
	int64_t color;
	int32_t key;
};

/*
 * A member calls a function that makes communicators of parent. joined: how many such calls of this member on it came
 * before, counted here; call: the function's name; begin_ns: of the call. one_clock: times of all members can be compared.
 * Never NULL; a reference.
 */
struct mpi_making *mpi_making_join(struct mpi_communicator *parent, uint32_t *joined,
				   const char *call, const struct mpi_part *part, uint64_t begin_ns,
				   bool one_clock);
struct mpi_making *mpi_making_ref(struct mpi_making *m);
void mpi_making_unref(struct mpi_making *m);
/* A member's call has returned: no other one will begin, unless it does not wait for them (Comm_idup). */
#define MPI_MAKING_GOES_ON UINT64_MAX
void mpi_making_returned(struct mpi_making *m, uint64_t ts_ns);
/* A member has got this rank in what is made, in an order that the library chose; -1: it is not in it. */
void mpi_making_place(struct mpi_making *m, struct mpi_member who, int32_t rank);
/*
 * The communicator with that key (of a split: the colour) that these calls make, as a reference: the one another member
 * got, or a new one of these groups, to which the references are taken over. group NULL: the members are those who gave the
 * key for their colour.
 */
struct mpi_communicator *mpi_making_get(struct mpi_making *m, int64_t key, struct mpi_group *group,
					struct mpi_group *remote);
/* The same, of members who report their ranks in it: they are known once all have. */
struct mpi_communicator *mpi_making_get_placed(struct mpi_making *m);
/* The same, found by its group where the calls have no key. */
struct mpi_communicator *mpi_making_get_group(struct mpi_making *m, struct mpi_group *group);
/*
 * An intercommunicator's other side: that of the making whose leader named this one's leader, with the same tag. A reference, to
 * a group that may turn out later.
 */
struct mpi_group *mpi_making_remote(struct mpi_making *m);
void mpi_making_lead(struct mpi_making *m, struct mpi_member leader, struct mpi_member remote,
		     int32_t tag);
/* The other side has no making of its own (mpi_spawn.h): what is made has one id on both sides. */
void mpi_making_two_sided(struct mpi_making *m);
/* What is made as the other side has it, whose group this is: a reference, for one that is taken over. */
struct mpi_communicator *mpi_making_other_side(struct mpi_making *m, struct mpi_group *group);

#endif
