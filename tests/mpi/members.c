/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Communicators made in every way that MPI knows, and in each a ring of messages. Every rank writes a line for each call that
 * has peers to $POV_EXPECT/members.<rank>: its own world rank, the function, the tag (its number), the world ranks of destination
 * and source (-1: it has none), which it has found out by asking, and how the communicator was made. Needs 4 ranks or more.
 */
#include "expect.h"

static int rank, size, tag;
static char said[1 << 16];
static size_t said_bytes;

static void say(const char *fn, int dest, int source, const char *how)
{
	said_bytes += (size_t)snprintf(said + said_bytes, sizeof(said) - said_bytes,
				       "%d\t%s\t%d\t%d\t%d\t%s\n", rank, fn, tag, dest, source,
				       how);
}

static int world_of(MPI_Group group, int member)
{
	MPI_Group world;
	int out;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_translate_ranks(group, 1, &member, world, &out);
	MPI_Group_free(&world);
	return out;
}

/* Each sends to the next one, waiting for whoever sends. */
static void ring(MPI_Comm comm, const char *how)
{
	int me, n, out = 1, in = 0;
	MPI_Request req;
	MPI_Status status;
	MPI_Group group;

	tag += 2;
	if (comm == MPI_COMM_NULL)
		return;
	tag--;
	MPI_Comm_group(comm, &group);
	MPI_Group_rank(group, &me);
	MPI_Group_size(group, &n);
	MPI_Sendrecv(&out, 1, MPI_INT, (me + 1) % n, tag, &in, 1, MPI_INT, MPI_ANY_SOURCE, tag,
		     comm, &status);
	say("MPI_Sendrecv", world_of(group, (me + 1) % n), world_of(group, status.MPI_SOURCE), how);
	tag++;
	MPI_Irecv(&in, 1, MPI_INT, (me + n - 1) % n, tag, comm, &req);
	MPI_Send(&out, 1, MPI_INT, (me + 1) % n, tag, comm);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
	say("MPI_Irecv", -1, world_of(group, (me + n - 1) % n), how);
	say("MPI_Send", world_of(group, (me + 1) % n), -1, how);
	MPI_Group_free(&group);
}

static void ring_and_free(MPI_Comm comm, const char *how)
{
	ring(comm, how);
	if (comm != MPI_COMM_NULL)
		MPI_Comm_free(&comm);
}

static void copies(void)
{
	MPI_Comm a, b;
	MPI_Request req;

	MPI_Comm_dup(MPI_COMM_WORLD, &a);
	MPI_Comm_idup(a, &b, &req);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
	ring_and_free(a, "dup");
	ring_and_free(b, "idup of dup");
}

static void splits(void)
{
	MPI_Comm rows, part, node;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &rows);
	ring(rows, "split");
	MPI_Comm_split(rows, rank < size / 2, 7, &part);
	ring_and_free(part, "split of split");
	MPI_Comm_split(rows, rank == 0 ? MPI_UNDEFINED : 1, rank, &part);
	ring_and_free(part, "split without some");
	ring_and_free(rows, "split, again");
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &node);
	ring_and_free(node, "split by node");
}

static void of_group(MPI_Group group, const char *how)
{
	MPI_Comm comm;

	MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
	ring_and_free(comm, how);
}

static void groups(void)
{
	int some[3] = {3, 0, 2}, ranges[2][3] = {{3, 1, -2}, {0, 0, 1}};
	MPI_Group world, incl, excl, range, made;
	MPI_Comm comm;
	int member;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 3, some, &incl);
	MPI_Group_excl(world, 1, some, &excl);
	MPI_Group_range_incl(world, 2, ranges, &range);
	of_group(incl, "group incl");
	of_group(excl, "group excl");
	of_group(range, "group range");
	MPI_Group_union(range, incl, &made);
	of_group(made, "group union");
	MPI_Group_free(&made);
	MPI_Group_intersection(incl, excl, &made);
	of_group(made, "group intersection");
	MPI_Group_free(&made);
	MPI_Group_difference(world, range, &made);
	of_group(made, "group difference");
	MPI_Group_free(&made);
	MPI_Group_rank(incl, &member);
	comm = MPI_COMM_NULL;
	if (member != MPI_UNDEFINED)
		MPI_Comm_create_group(MPI_COMM_WORLD, incl, 5, &comm);
	ring_and_free(comm, "create_group");
	MPI_Group_free(&incl);
	MPI_Group_free(&excl);
	MPI_Group_free(&range);
	MPI_Group_free(&world);
}

static void topologies(void)
{
	int dims[2] = {2, size / 2}, periods[2] = {1, 0}, remain[2] = {0, 1}, me;
	int next = (rank + 1) % size, last = (rank + size - 1) % size, *index, *edges;
	MPI_Comm cart, sub, graph;

	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
	ring(cart, "cart");
	if (cart != MPI_COMM_NULL) {
		MPI_Cart_sub(cart, remain, &sub);
		ring_and_free(sub, "cart_sub of rows");
		remain[0] = 1;
		remain[1] = 0;
		MPI_Cart_sub(cart, remain, &sub);
		ring_and_free(sub, "cart_sub of columns");
		MPI_Comm_dup(cart, &graph);
		MPI_Cart_sub(graph, remain, &sub);
		ring_and_free(sub, "cart_sub of a copy");
		MPI_Comm_free(&graph);
		MPI_Comm_free(&cart);
	} else {
		tag += 6;
	}
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart);
	if (cart != MPI_COMM_NULL)
		MPI_Comm_rank(cart, &me);
	ring_and_free(cart, "cart, reordered");
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, MPI_UNWEIGHTED, 1, &next,
				       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	ring_and_free(graph, "dist_graph");
	index = malloc((size_t)size * sizeof(*index));
	edges = malloc((size_t)size * sizeof(*edges));
	for (int i = 0; i < size; i++) {
		index[i] = i + 1;
		edges[i] = (i + 1) % size;
	}
	MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
	ring_and_free(graph, "graph");
	free(index);
	free(edges);
}

static void across(void)
{
	int half = rank < size / 2, n, m, me, out = 1, in = 0;
	MPI_Comm side, both, inter;
	MPI_Group remote;

	MPI_Comm_split(MPI_COMM_WORLD, half, rank, &side);
	MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, half ? size / 2 : 0, 11, &inter);
	MPI_Comm_remote_group(inter, &remote);
	MPI_Comm_rank(side, &me);
	MPI_Comm_size(side, &n);
	MPI_Comm_remote_size(inter, &m);
	tag++;
	if (me < m && me < n) {
		MPI_Sendrecv(&out, 1, MPI_INT, me, tag, &in, 1, MPI_INT, me, tag, inter,
			     MPI_STATUS_IGNORE);
		say("MPI_Sendrecv", world_of(remote, me), world_of(remote, me),
		    "intercommunicator");
	}
	MPI_Intercomm_merge(inter, half, &both);
	MPI_Comm_rank(both, &me);
	ring_and_free(both, "merged");
	MPI_Group_free(&remote);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&side);
}

static int said_write(void)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/members.%d", getenv("POV_EXPECT"), rank);
	f = fopen(path, "w");
	return !f || fwrite(said, 1, said_bytes, f) != said_bytes || fclose(f);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	ring(MPI_COMM_WORLD, "world");
	for (int i = 0; i < 3; i++) {
		copies();
		splits();
	}
	groups();
	topologies();
	across();
	ring(MPI_COMM_SELF, "self");
	MPI_Finalize();
	return said_write();
}
