/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The communicators of a trace and their members. Each communicator is one object that all its
 * members share. It is made by calls of all members of another one, its parent. The n-th such call
 * of each member belongs to the n-th communicator, because MPI demands that all members make these
 * calls in one order. Together, the arguments of these calls determine the members: colours and
 * keys of a split, groups, leaders.
 */
#ifndef POV_LAYERS_MPI_MPI_COMM_H
#define POV_LAYERS_MPI_MPI_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "layers/layer.h"

/* A process: its rank in the MPI_COMM_WORLD of a job. */
struct mpi_member {
	int32_t job; /* number of the job in this trace */
	int32_t rank;
};

static inline bool mpi_member_same(struct mpi_member a, struct mpi_member b)
{
	return a.job == b.job && a.rank == b.rank;
}

/* ---- groups (mpi_group.c) ---- */

/*
 * Groups of processes in MPI's sense: ordered, immutable, shared by reference. The members of a
 * group may become known only later, after the calls of other ranks have been read. So a group made
 * from other groups stores how it was made, and is evaluated when its members are requested.
 */
struct mpi_group;

struct mpi_group *mpi_group_ref(struct mpi_group *g); /* NULL stays NULL */
void mpi_group_unref(struct mpi_group *g);

/* A group of these members, in this order. The group owns the array from here on. */
struct mpi_group *mpi_group_new(struct mpi_member *member, int32_t size);
/* The group of all processes of a job. */
struct mpi_group *mpi_group_world(int32_t job, int32_t size);
/* A group whose members cannot be known; why: the reason. */
struct mpi_group *mpi_group_unknown(enum peer_unknown why);

/*
 * Make groups from other groups, to which they take references (NULL: an unknown group). The first
 * two give a group of the members with the given ranks; if exclude is set, of all others. The array
 * of ranks is copied. Ranges are triples of first, last and stride (MPI_Group_range_incl).
 */
struct mpi_group *mpi_group_of_ranks(struct mpi_group *g, const int32_t *rank, uint32_t cnt,
				     bool exclude);
struct mpi_group *mpi_group_of_ranges(struct mpi_group *g, const int32_t *range, uint32_t cnt,
				      bool exclude);
struct mpi_group *mpi_group_first(struct mpi_group *g, int32_t cnt); /* its first members */
enum mpi_group_op {
	MPI_GROUP_CONCAT,
	MPI_GROUP_UNION,
	MPI_GROUP_INTERSECTION,
	MPI_GROUP_DIFFERENCE,
};
struct mpi_group *mpi_group_of_two(enum mpi_group_op op, struct mpi_group *a, struct mpi_group *b);

struct mpi_making;
/*
 * The members with this key, as an array that the caller frees, and their number. NULL with the
 * reason in *why if they cannot be known; NULL with PEER_KNOWN: not yet.
 */
typedef struct mpi_member *mpi_members_fn(struct mpi_making *making, int64_t key, int32_t *size,
					  enum peer_unknown *why);
/* Source of a group whose members are known once all members of a communicator have called. */
struct mpi_group_source {
	struct mpi_making *making; /* the group's reference to it */
	void (*unref)(struct mpi_making *making);
	mpi_members_fn *members;
	int64_t key;
};
/*
 * parent: the group that must be known before the source can answer, or NULL; the source owns its
 * reference.
 */
struct mpi_group *mpi_group_from(struct mpi_group_source source, struct mpi_group *parent);

/* -1: unknown, for now or for good. g may be NULL. */
int32_t mpi_group_size(struct mpi_group *g);
/* The process with a rank. PEER_KNOWN, or the reason why it is unknown. */
enum peer_unknown mpi_group_member(struct mpi_group *g, int32_t rank, struct mpi_member *out);
/* The rank of a process, or -1. */
int32_t mpi_group_rank(struct mpi_group *g, struct mpi_member who);
/* True if both are known and have the same members in the same order. */
bool mpi_group_equal(struct mpi_group *a, struct mpi_group *b);

/* ---- communicators ---- */

struct mpi_comms; /* all communicators of a trace */
struct mpi_communicator;
struct mpi_making; /* calls that together make communicators */

struct mpi_comms *mpi_comms_new(void);
/* Communicators that members of groups make by themselves (mpi_comm_internal.h). */
struct mpi_group_makings *mpi_comms_of_groups(struct mpi_comms *all);
/* Call it when there are no more references to communicators. */
void mpi_comms_free(struct mpi_comms *all);
/*
 * The number of a job, by its launcher's name. A process that no launcher named is a job of its
 * own.
 */
int32_t mpi_comms_job(struct mpi_comms *all, const char *name, uint32_t pid);

struct mpi_communicator *mpi_communicator_ref(struct mpi_communicator *c);
void mpi_communicator_unref(struct mpi_communicator *c);
/* A reference to a job's MPI_COMM_WORLD. */
struct mpi_communicator *mpi_comms_world(struct mpi_comms *all, int32_t job, int32_t size);
/*
 * Makes a communicator of one process alone, or of unknown others. Takes over the references to the
 * groups. remote: NULL unless it is an intercommunicator.
 */
struct mpi_communicator *mpi_communicator_new(struct mpi_comms *all, struct mpi_group *group,
					      struct mpi_group *remote);

uint32_t mpi_communicator_id(const struct mpi_communicator *c);
struct mpi_group *mpi_communicator_group(struct mpi_communicator *c, bool remote);
/* The process of a rank; in an intercommunicator, of a rank in the other group. c may be NULL. */
enum peer_unknown mpi_communicator_peer(struct mpi_communicator *c, int32_t rank,
					struct mpi_member *out);
/*
 * Notes that a member's library reported its own rank in the communicator, and the size (-1: not
 * reported). After a contradiction, nothing is known of the communicator any more.
 */
void mpi_communicator_report(struct mpi_communicator *c, struct mpi_member who, int32_t rank,
			     int32_t size);
/*
 * Sets that the group is a followed by b, or b followed by a. A member's report will decide which.
 */
void mpi_communicator_merged(struct mpi_communicator *c, struct mpi_group *a, struct mpi_group *b);
/*
 * Notes that a member's library reported the communicator's context id. Only for libraries in which
 * all members have the same id.
 */
void mpi_communicator_context(struct mpi_communicator *c, uint64_t context);

/* ---- making ---- */

/* One member's call. */
struct mpi_part {
	struct mpi_member who;
	int32_t parent_rank;
	bool takes_part; /* it becomes a member of what is made: it gave a colour */
	bool placed;	 /* its rank was set by mpi_making_place */
	int64_t color;
	int32_t key;
};

/*
 * Adds a member's call of a function that makes communicators from parent. joined: number of
 * earlier such calls of this member on parent, incremented here. call: the function's name.
 * begin_ns: start of the call. one_clock: times of all members can be compared. Returns a
 * reference, never NULL.
 */
struct mpi_making *mpi_making_join(struct mpi_communicator *parent, uint32_t *joined,
				   const char *call, const struct mpi_part *part, uint64_t begin_ns,
				   bool one_clock);
struct mpi_making *mpi_making_ref(struct mpi_making *m);
void mpi_making_unref(struct mpi_making *m);
/*
 * Notes that a member's call returned at ts_ns: no other member's call can begin later. If members
 * do not wait for each other (Comm_idup), ts_ns is MPI_MAKING_GOES_ON.
 */
#define MPI_MAKING_GOES_ON UINT64_MAX
void mpi_making_returned(struct mpi_making *m, uint64_t ts_ns);
/*
 * Sets a member's rank in the new communicator, if the library chooses the order; -1: it is no
 * member.
 */
void mpi_making_place(struct mpi_making *m, struct mpi_member who, int32_t rank);
/*
 * The communicator with that key (for a split: the colour) that these calls make. Returns a
 * reference to the one that another member got, or to a new one of these groups, whose references
 * are taken over. group NULL: its members are those who gave the key as their colour.
 */
struct mpi_communicator *mpi_making_get(struct mpi_making *m, int64_t key, struct mpi_group *group,
					struct mpi_group *remote);
/*
 * Like mpi_making_get, for members that report their ranks. The members are known once all have
 * reported.
 */
struct mpi_communicator *mpi_making_get_placed(struct mpi_making *m);
/* As mpi_making_get, but found by its group, for calls without a key. */
struct mpi_communicator *mpi_making_get_group(struct mpi_making *m, struct mpi_group *group);
/*
 * Returns the other side's group of an intercommunicator that m makes. The two sides call with the
 * same tag, and each names the other's leader. Returns a reference; the group's members may become
 * known later.
 */
struct mpi_group *mpi_making_remote(struct mpi_making *m);
void mpi_making_lead(struct mpi_making *m, struct mpi_member leader, struct mpi_member remote,
		     int32_t tag);
/*
 * Call this if the other side has no making of its own (mpi_spawn.c). Gives the new communicator an
 * id that both sides use.
 */
void mpi_making_two_sided(struct mpi_making *m);
/*
 * Returns the communicator as the other side sees it, whose local group is `group`. Takes over the
 * reference to group.
 */
struct mpi_communicator *mpi_making_other_side(struct mpi_making *m, struct mpi_group *group);

#endif
