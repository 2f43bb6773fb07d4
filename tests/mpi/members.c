/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Communicators created in every way that MPI offers, with a ring of messages in each. Each rank
 * writes a line for each call with peers to $POV_EXPECT/said.<rank>: its own world rank, the
 * function, the tag (its number), the world ranks of destination and source as reported by the
 * library (-1: none), and how the communicator was created. Needs 4 ranks or more.
 */
#include "random_comms.h"

static struct comms all;
static FILE *said;
static int tag;

static void say(const char *fn, int dest, int source, const char *how)
{
	fprintf(said, "%d\t%s\t%d\t%d\t%d\t%s\n", rank, fn, tag, dest, source, how);
}

/* Returns the world rank of a member that this rank may send to, or -1. */
static int world_of(const struct comm *c, int member)
{
	for (int i = 0; i < size; i++)
		if (c->place[i] == member && may_talk(c, rank, i))
			return i;
	return -1;
}

/* Each member sends to the next one and receives from the one before. */
static void ring(const struct comm *c)
{
	int me = c->place[rank], next, last, n = 0, out = 1, in = 0;
	MPI_Request req;
	MPI_Status status;

	tag += 2;
	if (me < 0)
		return;
	while (world_of(c, n) >= 0)
		n++;
	next = (me + 1) % n;
	last = (me + n - 1) % n;
	tag--;
	CALL(MPI_Sendrecv, next, 4, 4, &out, 1, MPI_INT, next, tag, &in, 1, MPI_INT, MPI_ANY_SOURCE,
	     tag, c->handle, &status);
	say("MPI_Sendrecv", world_of(c, next), world_of(c, status.MPI_SOURCE), c->made);
	tag++;
	CALL(MPI_Irecv, last, 0, 4, &in, 1, MPI_INT, last, tag, c->handle, &req);
	CALL(MPI_Send, next, 4, 0, &out, 1, MPI_INT, next, tag, c->handle);
	DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	say("MPI_Irecv", -1, world_of(c, last), c->made);
	say("MPI_Send", world_of(c, next), -1, c->made);
	MOVE(MPI_Allreduce, 4, 4, &out, &in, 1, MPI_INT, MPI_SUM, c->handle);
}

/* Exchanges messages between the groups, among ranks with a counterpart on the other side. */
static void across(const struct comm *c)
{
	int me = c->place[rank], out[RANKS_MAX] = {0}, in[RANKS_MAX], n;

	tag++;
	DO(MPI_Comm_remote_size, c->handle, &n);
	MOVE(MPI_Alltoall, 4 * n, 4 * n, out, 1, MPI_INT, in, 1, MPI_INT, c->handle);
	if (me >= size / 2)
		return;
	CALL(MPI_Sendrecv, me, 4, 4, out, 1, MPI_INT, me, tag, in, 1, MPI_INT, me, tag, c->handle,
	     MPI_STATUS_IGNORE);
	say("MPI_Sendrecv", world_of(c, me), world_of(c, me), c->made);
}

static void all_use(void)
{
	for (struct comm *c = all.comm; c < all.comm + all.cnt; c++) {
		(c->inter ? across : ring)(c);
		if (c->handle != MPI_COMM_NULL && c->handle != MPI_COMM_WORLD &&
		    c->handle != MPI_COMM_SELF)
			DO(MPI_Comm_free, &c->handle);
	}
	all.cnt = 0;
}

/* Adds parts of parts, and copies of copies. */
static void add_nested(void)
{
	int dims[2] = {2, size / 2}, periods[2] = {1, 0}, rows[2] = {0, 1}, columns[2] = {1, 0};
	MPI_Comm a, b, c, none = MPI_COMM_NULL;
	MPI_Request req;

	DO(MPI_Comm_dup, MPI_COMM_WORLD, &a);
	DO(MPI_Comm_set_name, a, "a copy");
	DO(MPI_Comm_idup, a, &b, &req);
	DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	comm_add(&all, "dup", a, 0);
	comm_add(&all, "idup of dup", b, 0);
	DO(MPI_Comm_split, MPI_COMM_WORLD, rank % 2, -rank, &a);
	DO(MPI_Comm_split, a, rank < size / 2, 7, &b);
	DO(MPI_Comm_split, a, rank == 0 ? MPI_UNDEFINED : 1, rank, &c);
	comm_add(&all, "split", a, rank % 2);
	comm_add(&all, "split of split", b, rank % 2 + 2 * (rank < size / 2));
	comm_add(&all, "split without some", c, rank % 2);
	DO(MPI_Cart_create, MPI_COMM_WORLD, 2, dims, periods, 0, &a);
	b = c = none;
	if (a != MPI_COMM_NULL) {
		DO(MPI_Cart_sub, a, rows, &b);
		DO(MPI_Comm_dup, a, &c);
	}
	comm_add(&all, "cart", a, 0);
	comm_add(&all, "cart_sub of rows", b, rank / (size / 2));
	comm_add(&all, "copy of cart", c, 0);
	b = none;
	if (c != MPI_COMM_NULL)
		DO(MPI_Cart_sub, c, columns, &b);
	comm_add(&all, "cart_sub of a copy", b, rank % (size / 2));
	DO(MPI_Cart_create, MPI_COMM_WORLD, 2, dims, periods, 1, &a);
	comm_add(&all, "cart, reordered", a, 0);
}

static void add_group(MPI_Group group, const char *how)
{
	MPI_Comm comm;

	DO(MPI_Comm_create, MPI_COMM_WORLD, group, &comm);
	comm_add(&all, how, comm, 0);
	DO(MPI_Group_free, &group);
}

static void add_groups(void)
{
	int some[3] = {3, 0, 2}, ranges[2][3] = {{3, 1, -2}, {0, 0, 1}};
	MPI_Group world, incl, excl, range, made;

	DO(MPI_Comm_group, MPI_COMM_WORLD, &world);
	DO(MPI_Group_incl, world, 3, some, &incl);
	DO(MPI_Group_excl, world, 1, some, &excl);
	DO(MPI_Group_range_incl, world, 2, ranges, &range);
	DO(MPI_Group_union, range, incl, &made);
	add_group(made, "group union");
	DO(MPI_Group_intersection, incl, excl, &made);
	add_group(made, "group intersection");
	DO(MPI_Group_difference, world, range, &made);
	add_group(made, "group difference");
	add_group(incl, "group incl");
	add_group(excl, "group excl");
	add_group(range, "group range");
	DO(MPI_Group_free, &world);
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	MUST(size >= 4 && size <= RANKS_MAX);
	said = expect_open_plain("said", rank);
	comm_add(&all, "self", MPI_COMM_SELF, rank);
	for (int i = 0; i < 3; i++) { /* reuses handles */
		comms_make(&all, i == 0, false);
		all_use();
		DO(MPI_Comm_free, &all.meet);
	}
	add_nested();
	add_groups();
	all_use();
	fclose(said);
	expect_finish();
	return 0;
}
