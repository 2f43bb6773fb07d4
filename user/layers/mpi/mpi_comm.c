/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Communicators and their members, from the calls that made them and from the members' own reports,
 * which must agree.
 */
#include "layers/mpi/mpi_comm.h"

#include <stdlib.h>

#include "layers/mpi/mpi_comm_internal.h"
#include "lib/log.h"

#define REPORTS_MAX (1 << 22)

/* ---- all communicators ---- */

struct mpi_comms *mpi_comms_new(void)
{
	return xcalloc(1, sizeof(struct mpi_comms));
}

struct mpi_group_makings *mpi_comms_of_groups(struct mpi_comms *all)
{
	return &all->of_groups;
}

int32_t mpi_comms_job(struct mpi_comms *all, const char *name, uint32_t pid)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	uintptr_t known;

	for (const char *p = name; *p; p++)
		hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
	if (!*name)
		hash ^= (uint64_t)pid << 32 | 1;
	known = (uintptr_t)map_get(&all->jobs, hash);
	if (known)
		return (int32_t)known - 1;
	map_set(&all->jobs, hash, (void *)(uintptr_t)(all->njobs + 1));
	return all->njobs++;
}

/* ---- one communicator ---- */

struct mpi_communicator *mpi_communicator_new(struct mpi_comms *all, struct mpi_group *group,
					      struct mpi_group *remote)
{
	struct mpi_communicator *c = xcalloc(1, sizeof(*c));

	c->refs = 1;
	c->id = ++all->next_id;
	c->all = all;
	c->group = group;
	c->remote = remote;
	c->report_size = -1;
	return c;
}

struct mpi_communicator *mpi_comms_world(struct mpi_comms *all, int32_t job, int32_t size)
{
	struct mpi_communicator *c = map_get(&all->worlds, (uint64_t)(uint32_t)job);

	if (!c || (mpi_group_size(c->group) < 0 && size >= 0)) { /* its size is known only now */
		mpi_communicator_unref(c);
		c = mpi_communicator_new(all, mpi_group_world(job, size), NULL);
		map_set(&all->worlds, (uint64_t)(uint32_t)job, c);
	}
	return mpi_communicator_ref(c);
}

struct mpi_communicator *mpi_communicator_ref(struct mpi_communicator *c)
{
	if (c)
		c->refs++;
	return c;
}

static void communicator_free(struct mpi_communicator *c)
{
	while (c->makings)
		mpi_makings_close_oldest(c);
	mpi_group_unref(c->group);
	mpi_group_unref(c->remote);
	mpi_group_unref(c->either[0]);
	mpi_group_unref(c->either[1]);
	mpi_making_unref(c->placing);
	free(c->reported);
	free(c);
}

/*
 * Frees one after the other without recursion, however long a chain of communicators made from each
 * other is.
 */
void mpi_communicator_unref(struct mpi_communicator *c)
{
	struct mpi_comms *all;

	if (!c || --c->refs)
		return;
	all = c->all;
	c->next_unused = all->unused;
	all->unused = c;
	if (all->freeing)
		return;
	all->freeing = true;
	while ((c = all->unused)) {
		all->unused = c->next_unused;
		communicator_free(c);
	}
	all->freeing = false;
}

uint32_t mpi_communicator_id(const struct mpi_communicator *c)
{
	return c->id;
}

struct mpi_group *mpi_communicator_group(struct mpi_communicator *c, bool remote)
{
	return !c ? NULL : remote ? c->remote : c->group;
}

/* ---- members ---- */

/* The members' own reports must match what their calls together determine. */
static void reports_check(struct mpi_communicator *c)
{
	struct mpi_member by_group;
	int32_t size = c->checked || c->report_size < 0 ? -1 : mpi_group_size(c->group);

	if (size < 0)
		return;
	c->checked = true;
	c->conflict |= size != c->report_size;
	for (int32_t i = 0; i < c->report_size && !c->conflict; i++)
		if (c->reported[i].job >= 0 &&
		    mpi_group_member(c->group, i, &by_group) == PEER_KNOWN &&
		    !mpi_member_same(by_group, c->reported[i]))
			c->conflict = true;
}

enum peer_unknown mpi_communicator_peer(struct mpi_communicator *c, int32_t rank,
					struct mpi_member *out)
{
	enum peer_unknown why;

	if (!c)
		return PEER_UNKNOWN_COMM;
	if (c->remote)
		return mpi_group_member(c->remote, rank, out);
	reports_check(c);
	if (c->conflict)
		return PEER_UNKNOWN_CONFLICT;
	why = mpi_group_member(c->group, rank, out);
	if (why == PEER_UNKNOWN_MEMBERS && c->placing)
		why = PEER_UNKNOWN_ORDER;
	if (why == PEER_UNKNOWN_ORDER && c->either[0] && mpi_group_size(c->either[0]) < 0)
		why = mpi_group_member(c->either[0], rank, out);
	if (why == PEER_KNOWN || rank < 0 || rank >= c->report_size || c->reported[rank].job < 0)
		return why;
	*out = c->reported[rank];
	return PEER_KNOWN;
}

void mpi_communicator_merged(struct mpi_communicator *c, struct mpi_group *a, struct mpi_group *b)
{
	if (c->either[0] || mpi_group_size(c->group) >= 0)
		return;
	c->either[0] = mpi_group_of_two(MPI_GROUP_CONCAT, a, b);
	c->either[1] = mpi_group_of_two(MPI_GROUP_CONCAT, b, a);
}

static void either_decide(struct mpi_communicator *c, struct mpi_member who, int32_t rank)
{
	bool first = mpi_group_rank(c->either[0], who) == rank;
	bool second = mpi_group_rank(c->either[1], who) == rank;

	if (first == second)
		return;
	mpi_group_unref(c->group);
	c->group = c->either[second];
	mpi_group_unref(c->either[first]);
	c->either[0] = c->either[1] = NULL;
}

void mpi_communicator_report(struct mpi_communicator *c, struct mpi_member who, int32_t rank,
			     int32_t size)
{
	if (!c || c->remote)
		return;
	if (size >= 0 && size <= REPORTS_MAX && c->report_size < 0) {
		c->report_size = size;
		c->reported = xmalloc(((size_t)size + 1) * sizeof(*c->reported));
		for (int32_t i = 0; i < size; i++)
			c->reported[i].job = -1;
	}
	c->conflict |= size >= 0 && size != c->report_size;
	if (c->placing && rank >= 0)
		mpi_making_place(c->placing, who, rank);
	if (rank < 0 || who.rank < 0 ||
	    (rank < c->report_size && mpi_member_same(c->reported[rank], who)))
		return;
	either_decide(c, who, rank);
	c->conflict |= c->report_size >= 0 &&
		       (rank >= c->report_size || c->reported[rank].job >= 0);
	if (rank < c->report_size)
		c->reported[rank] = who;
	c->checked = false;
}

void mpi_communicator_context(struct mpi_communicator *c, uint64_t context)
{
	if (!c)
		return;
	c->conflict |= c->has_context && c->context != context;
	c->has_context = true;
	c->context = context;
}

/* ---- made by the members of a group only ---- */

/* Detects lost calls by their times, as mpi_making.c does. */

#define MAKINGS_MAX 256

struct group_making {
	struct mpi_communicator *made; /* a reference */
	uint32_t parent_id;
	int32_t tag;
	bool *called; /* by rank in the group */
	int32_t left; /* number of members that have not called */
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

static void mpi_group_makings_release(struct mpi_group_makings *m)
{
	while (m->oldest)
		making_drop(&m->oldest);
}

void mpi_comms_free(struct mpi_comms *all)
{
	struct mpi_communicator *c;

	if (!all)
		return;
	for (size_t at = 0; (c = map_next(&all->worlds, &at, NULL));)
		mpi_communicator_unref(c);
	for (size_t at = 0; (c = map_next(&all->merged, &at, NULL));)
		mpi_communicator_unref(c);
	mpi_spawns_free(all->spawns);
	map_release(&all->worlds);
	map_release(&all->merged);
	map_release(&all->jobs);
	map_release(&all->two_sided);
	mpi_group_makings_release(&all->of_groups);
	mpi_leaders_release(all);
	free(all);
}
