/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Groups of processes as MPI has them: ordered, never changed, shared by whoever refers to them. Who is in a group may turn
 * out only later, when the other ranks' calls have been read: so a group made of others remembers how, and is worked out
 * when it is asked for its members.
 */
#ifndef POV_LAYERS_MPI_MPI_GROUP_H
#define POV_LAYERS_MPI_MPI_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "layers/layer.h"

/* A process: rank in the MPI_COMM_WORLD of a job. */
struct mpi_member {
	int32_t job; /* number of the job in this trace */
	int32_t rank;
};

static inline bool mpi_member_same(struct mpi_member a, struct mpi_member b)
{
	return a.job == b.job && a.rank == b.rank;
}

struct mpi_group;

struct mpi_group *mpi_group_ref(struct mpi_group *g); /* NULL stays NULL */
void mpi_group_unref(struct mpi_group *g);

/* Of these members, in this order: owned by the group from here on. */
struct mpi_group *mpi_group_new(struct mpi_member *member, int32_t size);
/* All of a job. */
struct mpi_group *mpi_group_world(int32_t job, int32_t size);
/* Of which nothing can be known. */
struct mpi_group *mpi_group_unknown(enum peer_unknown why);

/*
 * Made of others, to which they take references (NULL: a group that is not known). Those with some ranks, or all but those:
 * ranks are copied; ranges are triples first, last, stride (MPI_Group_range_incl).
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
/* The members with this key, to be freed by the caller, and how many. NULL and why not, or NULL and PEER_KNOWN: not yet. */
typedef struct mpi_member *mpi_members_fn(struct mpi_making *making, int64_t key, int32_t *size,
					  enum peer_unknown *why);
/* Who comes together when all members of a communicator have called. */
struct mpi_group_source {
	struct mpi_making *making; /* the group's reference to it */
	void (*unref)(struct mpi_making *making);
	mpi_members_fn *members;
	int64_t key;
};
/* parent: the group that must be known before the source can tell, or NULL; the source holds it. */
struct mpi_group *mpi_group_from(struct mpi_group_source source, struct mpi_group *parent);

/* -1: not known (yet). g may be NULL. */
int32_t mpi_group_size(struct mpi_group *g);
/* The member of a rank. PEER_KNOWN, or why it is not known. */
enum peer_unknown mpi_group_member(struct mpi_group *g, int32_t rank, struct mpi_member *out);
/* Its rank, or -1. */
int32_t mpi_group_rank(struct mpi_group *g, struct mpi_member who);
/* Both are known and the same, order included. */
bool mpi_group_equal(struct mpi_group *a, struct mpi_group *b);

#endif
