/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Groups of processes in MPI's sense: ordered, immutable, shared by reference. The members of a
 * group may become known only later, after the calls of other ranks have been read. So a group made
 * from others remembers how. It is computed when its members are asked for.
 */
#ifndef POV_LAYERS_MPI_MPI_GROUP_H
#define POV_LAYERS_MPI_MPI_GROUP_H

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

struct mpi_group;

struct mpi_group *mpi_group_ref(struct mpi_group *g); /* NULL stays NULL */
void mpi_group_unref(struct mpi_group *g);

/* A group of these members, in this order. The group owns the array from here on. */
struct mpi_group *mpi_group_new(struct mpi_member *member, int32_t size);
/* The group of all processes of a job. */
struct mpi_group *mpi_group_world(int32_t job, int32_t size);
/* A group of which nothing can be known. */
struct mpi_group *mpi_group_unknown(enum peer_unknown why);

/*
 * Groups made of others, to which they take references (NULL: an unknown group). These have the
 * members at some ranks, or all others if exclude. Ranks are copied. Ranges are triples of first,
 * last and stride (MPI_Group_range_incl).
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

#endif
