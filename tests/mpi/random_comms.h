/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Communicators of all kinds, and the ranks of their members. */
#ifndef TESTS_MPI_RANDOM_COMMS_H
#define TESTS_MPI_RANDOM_COMMS_H

#include <stdbool.h>

#include "expect.h"

#define RANKS_MAX 8
#define COMMS_MAX 20

struct comm {
	MPI_Comm handle;
	/* By rank in MPI_COMM_WORLD: its rank in the communicator, or -1. */
	int place[RANKS_MAX];
	/* The side in an intercommunicator, or which of several communicators made together. */
	int side[RANKS_MAX];
	bool inter;
	const char *made; /* how it was made */
};

struct comms {
	MPI_Comm meet; /* carries no messages */
	struct comm comm[COMMS_MAX];
	int cnt;
};

/* Asks the library for the members' ranks instead of assuming them. */
static void comm_add(struct comms *a, const char *made, MPI_Comm handle, int side)
{
	struct comm *c = &a->comm[a->cnt++];
	int mine[3] = {-1, side, 0}, all[RANKS_MAX][3];

	c->handle = handle;
	c->inter = false;
	c->made = made;
	if (handle != MPI_COMM_NULL) {
		DO(MPI_Comm_rank, handle, &mine[0]);
		DO(MPI_Comm_test_inter, handle, &mine[2]);
	}
	MOVE(MPI_Allgather, 12, 12 * size, mine, 3, MPI_INT, all, 3, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++) {
		c->place[i] = all[i][0];
		c->side[i] = all[i][1];
		c->inter |= all[i][2];
	}
}

static void comm_add_topologies(struct comms *a, bool reorder)
{
	int next = (rank + 1) % size, last = (rank + size - 1) % size;
	int dims[2] = {size / 2, 2}, periods[2] = {1, 0}, keep[2] = {1, 0};
	int index[RANKS_MAX], edges[RANKS_MAX];
	MPI_Comm cart, made = MPI_COMM_NULL;

	DO(MPI_Cart_create, MPI_COMM_WORLD, 2, dims, periods, reorder, &cart);
	comm_add(a, "cart", cart, 0);
	if (cart != MPI_COMM_NULL)
		DO(MPI_Cart_sub, cart, keep, &made);
	comm_add(a, "cart_sub", made, rank % 2);
	for (int i = 0; i < size; i++) {
		index[i] = i + 1;
		edges[i] = (i + 1) % size;
	}
	DO(MPI_Graph_create, MPI_COMM_WORLD, size, index, edges, reorder, &made);
	comm_add(a, "graph", made, 0);
	DO(MPI_Dist_graph_create_adjacent, MPI_COMM_WORLD, 1, &last, MPI_UNWEIGHTED, 1, &next,
	   MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &made);
	comm_add(a, "dist_graph", made, 0);
}

/*
 * Makes communicators of all ranks but rank 0 in reverse order; then one of each half, at the same
 * time and with the same tag.
 */
static void comm_add_groups(struct comms *a)
{
	int half = rank < size / 2;
	int back[1][3] = {{size - 1, 1, -1}};
	int own[1][3] = {{half ? 0 : size / 2, half ? size / 2 - 1 : size - 1, 1}};
	MPI_Comm made = MPI_COMM_NULL;
	MPI_Group world, some, side;

	DO(MPI_Comm_group, MPI_COMM_WORLD, &world);
	DO(MPI_Group_range_incl, world, 1, back, &some);
	DO(MPI_Group_range_incl, world, 1, own, &side);
	DO(MPI_Comm_create, MPI_COMM_WORLD, some, &made);
	comm_add(a, "create", made, 0);
	made = MPI_COMM_NULL;
	if (rank)
		DO(MPI_Comm_create_group, MPI_COMM_WORLD, some, 9, &made);
	comm_add(a, "create_group", made, 0);
	DO(MPI_Comm_create_group, MPI_COMM_WORLD, side, 9, &made);
	comm_add(a, "create_group of halves", made, half);
	DO(MPI_Comm_create_group, MPI_COMM_WORLD, side, 9, &made); /* the same again */
	comm_add(a, "create_group of halves", made, half);
	DO(MPI_Group_free, &world);
	DO(MPI_Group_free, &some);
	DO(MPI_Group_free, &side);
}

/* world: includes MPI_COMM_WORLD; reorder: topologies may change ranks. */
static void comms_make(struct comms *a, bool world, bool reorder)
{
	int half = rank < size / 2;
	MPI_Comm made, side;
	MPI_Request req;

	DO(MPI_Comm_dup, MPI_COMM_WORLD, &a->meet);
	DO(MPI_Comm_dup, MPI_COMM_WORLD, &made);
	comm_add(a, "dup", made, 0);
	DO(MPI_Comm_idup, MPI_COMM_WORLD, &made, &req);
	DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	comm_add(a, "idup", made, 0);
	DO(MPI_Comm_split, MPI_COMM_WORLD, rank % 2, -rank, &made);
	comm_add(a, "split", made, rank % 2);
	DO(MPI_Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &made);
	comm_add(a, "split_type", made, 0);
	DO(MPI_Comm_split, MPI_COMM_WORLD, half, rank, &side);
	DO(MPI_Intercomm_create, side, 0, MPI_COMM_WORLD, half ? size / 2 : 0, 11, &made);
	comm_add(a, "intercomm", made, half);
	DO(MPI_Intercomm_merge, made, half, &side);
	comm_add(a, "merged", side, 0);
	comm_add_groups(a);
	comm_add_topologies(a, reorder);
	if (world)
		comm_add(a, "world", MPI_COMM_WORLD, 0);
}

static bool may_talk(const struct comm *c, int from, int to)
{
	return c->place[from] >= 0 && c->place[to] >= 0 &&
	       (c->side[from] == c->side[to]) != c->inter;
}

#endif
