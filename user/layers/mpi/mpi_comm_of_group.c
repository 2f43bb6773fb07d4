/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See mpi_comm_of_group.h. That a call was lost with its record shifts nothing, as in mpi_making.c. */
#include "layers/mpi/mpi_comm_of_group.h"

#include <stdlib.h>

#include "lib/log.h"

#define MAKINGS_MAX 256

struct group_making {
	struct mpi_communicator *made; /* a reference */
	uint32_t parent_id;
	int32_t tag;
	bool *called; /* by rank in the group */
	int32_t left; /* members that have not */
	uint64_t first_return_ns;
	struct group_making *next;
};

static void making_drop(struct group_making **link)
{
	struct group_making *g = *link;

	*link = g->next;
	mpi_communicator_unref(g->made);
	free(g->called);
	free(g);
}

static bool is_of(const struct group_making *g, const struct mpi_group_call *c, int32_t rank)
{
	return g->parent_id == mpi_communicator_id(c->parent) && g->tag == c->tag &&
	       !(c->one_clock && g->first_return_ns < c->begin_ns) &&
	       mpi_group_equal(mpi_communicator_group(g->made, false), c->group) &&
	       !g->called[rank];
}

static struct group_making *making_new(struct mpi_comms *all, const struct mpi_group_call *c,
				       int32_t size)
{
	struct group_making *g = xcalloc(1, sizeof(*g));

	g->made = mpi_communicator_new(all, mpi_group_ref(c->group), NULL);
	g->parent_id = mpi_communicator_id(c->parent);
	g->tag = c->tag;
	g->called = xcalloc((size_t)size, sizeof(*g->called));
	g->left = size;
	g->first_return_ns = c->end_ns;
	return g;
}

struct mpi_communicator *mpi_group_makings_join(struct mpi_group_makings *m, struct mpi_comms *all,
						const struct mpi_group_call *c)
{
	int32_t rank = mpi_group_rank(c->group, c->who), size = mpi_group_size(c->group);
	struct mpi_communicator *made;
	struct group_making **link;
	uint32_t waiting = 0;

	if (!c->parent || rank < 0)
		return mpi_communicator_new(all, mpi_group_ref(c->group), NULL);
	for (link = &m->oldest; *link && !is_of(*link, c, rank); link = &(*link)->next)
		waiting++;
	if (!*link)
		*link = making_new(all, c, size);
	made = mpi_communicator_ref((*link)->made);
	(*link)->called[rank] = true;
	if (!--(*link)->left)
		making_drop(link);
	else if (waiting == MAKINGS_MAX)
		making_drop(&m->oldest);
	return made;
}

void mpi_group_makings_release(struct mpi_group_makings *m)
{
	while (m->oldest)
		making_drop(&m->oldest);
}
