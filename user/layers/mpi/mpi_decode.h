/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The steps of decoding one MPI call, in this order: learn what it made, show its arguments, tell what it
 * moved and with whom, tell what became of requests, forget what it freed.
 */
#ifndef POV_LAYERS_MPI_MPI_DECODE_H
#define POV_LAYERS_MPI_MPI_DECODE_H

#include "layers/mpi/mpi_call.h"

void mpi_learn(struct mpi_call *c);
/* Of them: of communicators (mpi_learn_comm.c), also from calls that failed or have not returned; of groups and windows. */
void mpi_learn_comm(struct mpi_call *c);
void mpi_learn_group(struct mpi_call *c);
void mpi_values(struct mpi_call *c, struct call_view *out);
void mpi_roles(struct mpi_call *c, struct call_view *out);
void mpi_requests(struct mpi_call *c, struct call_view *out);
void mpi_forget(struct mpi_call *c);
/* What it means for a window. (mpi_window.c) */
void mpi_window(struct mpi_call *c, struct call_view *out);
/* The same of a call that may not have returned; NULL: it is about no window. */
const struct call_window *mpi_window_of(struct mpi_call *c, struct call_view *out);
/* Of a call that has not returned: members of its communicator, its window, and requests that it waits for. (mpi_open.c) */
void mpi_open(struct mpi_call *c, struct call_view *out);
/* Whether it marks a phase of the program. (mpi_mark.c) */
void mpi_mark(const struct mpi_call *c, struct call_view *out);

/* The call's communicator and what is known of it, or NULL. */
struct mpi_known_comm *mpi_call_comm(struct mpi_call *c);
/* Of an argument; NULL if it is not known; not a reference. */
struct mpi_group *mpi_call_group(const struct mpi_call *c, enum mpi_role role);
/* The communicator that the members of a group made by themselves: a reference. */
struct mpi_communicator *mpi_call_made_of_group(struct mpi_call *c);
/* What a member that a call begins to make communicators with says by that: before any of them has returned. */
void mpi_announce(struct mpi_call *c);
/* The communicator whose members make a new one by this call, or NULL. */
struct mpi_known_comm *mpi_call_parent(struct mpi_call *c);
/* What the call has been part of; a reference, or NULL. */
struct mpi_making *mpi_call_making(struct mpi_call *c);
/* What it has made by that; a reference, or NULL. parent: NULL if nothing is known of it. */
struct mpi_communicator *mpi_call_made(struct mpi_call *c, struct mpi_making *m,
				       struct mpi_known_comm *parent);
/* How many ranks a topology has if its parent has all; -1 if that is not known. */
int32_t mpi_topology_size(const struct mpi_call *c, int32_t all);
/* The library may have other ranks in it than in the parent. */
bool mpi_may_reorder(const struct mpi_call *c);
/* Own rank in a communicator, or -1. */
int32_t mpi_comm_rank(const struct mpi_call *c, struct mpi_known_comm *comm);
/* The communicator that the call's ranks are of, be it by a window or a matched message; or NULL. */
struct mpi_communicator *mpi_call_ranks(struct mpi_call *c);
/* Where its window or its message comes from; NULL: not known, or it has none. */
const struct mpi_origin *mpi_call_origin(const struct mpi_call *c);
/* A rank's own in the world, or -1 and why not (enum peer_unknown); PEER_* have none, which is no unknown. */
void mpi_world_rank(struct mpi_communicator *comm, int32_t rank, int32_t *world, int32_t *job,
		    uint8_t *why);
/* Members that arrays are indexed by: the remote ones of an intercommunicator; -1 unknown. */
int32_t mpi_comm_peers(const struct mpi_known_comm *comm);

/* A rank or tag, wildcards as PEER_*, TAG_ANY. False, and *out untouched, if it is none. */
bool mpi_peer_map(const struct mpi_flavour_info *fl, int64_t v, int32_t *out);
bool mpi_tag_map(const struct mpi_flavour_info *fl, int64_t v, int32_t *out);

/* Bytes of one element of a datatype passed by value, or -1. */
int64_t mpi_call_type_bytes(const struct mpi_call *c, enum mpi_role role);
/* Of all elements of an array, or -1. */
int64_t mpi_call_product(const struct mpi_call *c, enum mpi_role role);
/* Σ counts[i] × size of types[i], of two arguments that are arrays, or -1. */
int64_t mpi_call_pairs_bytes(const struct mpi_call *c, int counts, int types);
/* Its name, how it was made, or its number. */
const char *mpi_call_type_text(const struct mpi_call *c, uint64_t handle);

/* a × b, or -1 if either is negative or the product does not fit. */
static inline int64_t times(int64_t a, int64_t b)
{
	int64_t r;

	return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &r) ? -1 : r;
}

static inline int64_t scaled(int64_t count, int64_t bytes)
{
	return count ? times(count, bytes) : 0;
}

/* a + b with the same rule. */
static inline int64_t plus(int64_t a, int64_t b)
{
	int64_t r;

	return a < 0 || b < 0 || __builtin_add_overflow(a, b, &r) ? -1 : r;
}

/* Adds status_source, status_tag (of a message) and status_bytes. */
void mpi_status_show(const struct mpi_call *c, const struct mpi_status *st, bool message,
		     struct call_view *out);

#endif
