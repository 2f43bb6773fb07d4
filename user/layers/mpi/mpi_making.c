/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A making waits on its parent's list until all members have called and returned. The record of a
 * member's call may be lost. Then the member's next call must not join the older making instead.
 * Times show this: no member returns before all have called, so a call that began after a member
 * had returned from a making does not belong to it.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "layers/mpi/mpi_comm_internal.h"

#define MAKINGS_MAX 64	/* most makings of one parent that wait for members */
#define LEADERS_MAX 256 /* most makings of intercommunicators whose other side has not called */

struct made {
	int64_t key;
	struct mpi_communicator *comm;
};

struct mpi_making {
	uint32_t refs, number;
	const char *call;
	struct mpi_comms *all;
	struct mpi_group *parent_group;
	struct mpi_part *part;
	uint32_t part_cnt, returned;
	uint64_t first_return_ns;
	uint32_t placed;
	bool places; /* its members are known once mpi_making_place has run for all */
	bool closed, sorted;
	struct made *made; /* released when the making is closed */
	uint32_t made_cnt;
	struct mpi_group *remote; /* set once the other side's leader has called */
	/* parent is an intercommunicator: id of what both sides make with key 0; else 0 */
	uint32_t id;
	struct mpi_making *next;
};

/* A leader whose side waits for the other one. */
struct mpi_leader {
	struct mpi_member own, remote;
	int32_t tag;
	struct mpi_making *making; /* a reference */
	struct mpi_leader *next;
};

struct mpi_making *mpi_making_ref(struct mpi_making *m)
{
	m->refs++;
	return m;
}

void mpi_making_unref(struct mpi_making *m)
{
	if (!m || --m->refs)
		return;
	mpi_group_unref(m->parent_group);
	mpi_group_unref(m->remote);
	free(m->part);
	free(m);
}

/* Ends the references between the making and what it made. */
void mpi_makings_close_oldest(struct mpi_communicator *parent)
{
	struct mpi_making *m = parent->makings;

	parent->makings = m->next;
	m->closed = true;
	for (uint32_t i = 0; i < m->made_cnt; i++)
		mpi_communicator_unref(m->made[i].comm);
	free(m->made);
	m->made = NULL;
	m->made_cnt = 0;
	mpi_making_unref(m);
}

static bool all_called(const struct mpi_making *m)
{
	int32_t size = mpi_group_size(m->parent_group);

	return size >= 0 && m->part_cnt >= (uint32_t)size;
}

/*
 * False for a making of another function, a complete one, and one that was over before the call
 * began.
 */
static bool may_join(const struct mpi_making *m, const char *call, uint64_t begin_ns,
		     bool one_clock)
{
	return !strcmp(m->call, call) && !all_called(m) &&
	       !(one_clock && m->first_return_ns && m->first_return_ns < begin_ns);
}

/*
 * Both sides of an intercommunicator make the same communicator. Each side has its own making; they
 * share one id.
 */
static uint32_t two_sided_id(const struct mpi_communicator *parent, uint32_t number)
{
	uint64_t key = map_pair(parent->id, number);
	uintptr_t id;

	if (!parent->remote)
		return 0;
	id = (uintptr_t)map_get(&parent->all->two_sided, key);
	if (!id) {
		id = ++parent->all->next_id;
		map_set(&parent->all->two_sided, key, (void *)id);
	}
	return (uint32_t)id;
}

static struct mpi_making *making_append(struct mpi_communicator *parent, const char *call,
					struct mpi_making **link, uint32_t waiting)
{
	struct mpi_making *m = xcalloc(1, sizeof(*m));

	m->refs = 1; /* the list's reference */
	m->number = parent->next_number++;
	m->call = call;
	m->all = parent->all;
	m->parent_group = mpi_group_ref(parent->group);
	m->id = two_sided_id(parent, m->number);
	*link = m;
	if (waiting >= MAKINGS_MAX)
		mpi_makings_close_oldest(parent);
	return m;
}

struct mpi_making *mpi_making_join(struct mpi_communicator *parent, uint32_t *joined,
				   const char *call, const struct mpi_part *part, uint64_t begin_ns,
				   bool one_clock)
{
	struct mpi_making **link, *m;
	uint32_t waiting = 0;

	/* makings from which all members have returned are at the head of the list */
	while ((m = parent->makings) && all_called(m) && m->returned >= m->part_cnt)
		mpi_makings_close_oldest(parent);
	for (link = &parent->makings; (m = *link); link = &m->next) {
		if (m->number >= *joined && may_join(m, call, begin_ns, one_clock))
			break;
		waiting++;
	}
	if (!m)
		m = making_append(parent, call, link, waiting);
	*joined = m->number + 1;
	*table_append(m->part, m->part_cnt) = *part;
	m->sorted = false;
	m->refs++;
	return m;
}

void mpi_making_returned(struct mpi_making *m, uint64_t ts_ns)
{
	m->returned++;
	if (!m->first_return_ns || ts_ns < m->first_return_ns)
		m->first_return_ns = ts_ns;
}

void mpi_making_place(struct mpi_making *m, struct mpi_member who, int32_t rank)
{
	for (uint32_t i = 0; i < m->part_cnt; i++) {
		if (m->part[i].placed || !mpi_member_same(m->part[i].who, who))
			continue;
		m->part[i].key = rank;
		m->part[i].takes_part = rank >= 0;
		m->part[i].placed = true;
		m->placed++;
	}
}

TABLE_ORDER(part_compare, struct mpi_part, table_compare(a->color, b->color),
	    table_compare(a->key, b->key), table_compare(a->parent_rank, b->parent_rank))

/* Members that gave a colour, ordered by key, and by rank in the parent where keys are equal. */
static struct mpi_member *split_members(struct mpi_making *m, int64_t color, int32_t *size,
					enum peer_unknown *why)
{
	struct mpi_member *list;
	int32_t n = 0;

	if (!all_called(m)) {
		*why = m->closed ? PEER_UNKNOWN_MEMBERS : PEER_KNOWN;
		return NULL;
	}
	if (m->places && m->placed < m->part_cnt)
		return NULL;
	if (!m->sorted)
		qsort(m->part, m->part_cnt, sizeof(*m->part), part_compare);
	m->sorted = true;
	list = xcalloc(m->part_cnt + 1, sizeof(*list));
	for (uint32_t i = 0; i < m->part_cnt; i++)
		if (m->part[i].takes_part && m->part[i].color == color)
			list[n++] = m->part[i].who;
	*size = n;
	return list;
}

static struct mpi_member *remote_members(struct mpi_making *m, int64_t key, int32_t *size,
					 enum peer_unknown *why)
{
	struct mpi_member *list;
	int32_t n = mpi_group_size(m->remote);

	if (n < 0) {
		*why = m->closed && !m->remote ? PEER_UNKNOWN_MEMBERS : PEER_KNOWN;
		return NULL;
	}
	list = xcalloc((size_t)n + 1, sizeof(*list));
	for (int32_t i = 0; i < n; i++)
		if (mpi_group_member(m->remote, i, &list[i]) != PEER_KNOWN)
			list[i].rank = -1;
	*size = n;
	return list;
}

static struct mpi_group *group_from(struct mpi_making *m, mpi_members_fn *members, int64_t key)
{
	m->refs++;
	return mpi_group_from((struct mpi_group_source){m, mpi_making_unref, members, key},
			      m->parent_group);
}

static struct mpi_communicator *made_add(struct mpi_making *m, int64_t key,
					 struct mpi_communicator *c)
{
	if (!m->closed) {
		*table_append(m->made, m->made_cnt) = (struct made){key, mpi_communicator_ref(c)};
	}
	return c;
}

/*
 * The communicator that both sides of an intercommunicator make: the one that the other side got if
 * it was first. The order of its members is unknown.
 */
static struct mpi_communicator *merged_get(const struct mpi_making *m)
{
	struct mpi_communicator *c = map_get(&m->all->merged, m->id);

	if (!c) {
		c = mpi_communicator_new(m->all, mpi_group_unknown(PEER_UNKNOWN_ORDER), NULL);
		c->id = m->id;
		map_set(&m->all->merged, m->id, c);
	}
	return mpi_communicator_ref(c);
}

struct mpi_communicator *mpi_making_get(struct mpi_making *m, int64_t key, struct mpi_group *group,
					struct mpi_group *remote)
{
	struct mpi_communicator *c;

	for (uint32_t i = 0; i < m->made_cnt; i++) {
		if (m->made[i].key != key)
			continue;
		mpi_group_unref(group);
		mpi_group_unref(remote);
		return mpi_communicator_ref(m->made[i].comm);
	}
	if (m->id && !key && !remote) {
		mpi_group_unref(group);
		return made_add(m, key, merged_get(m));
	}
	c = mpi_communicator_new(m->all, group ?: group_from(m, split_members, key), remote);
	if (m->id && !key)
		c->id = m->id;
	return made_add(m, key, c);
}

struct mpi_communicator *mpi_making_get_placed(struct mpi_making *m)
{
	struct mpi_communicator *c = mpi_making_get(m, 0, NULL, NULL);

	m->places = true;
	if (!c->placing) {
		c->placing = m;
		m->refs++;
	}
	return c;
}

struct mpi_communicator *mpi_making_get_group(struct mpi_making *m, struct mpi_group *group)
{
	for (uint32_t i = 0; i < m->made_cnt; i++)
		if (mpi_group_equal(m->made[i].comm->group, group))
			return mpi_communicator_ref(m->made[i].comm);
	return made_add(m, m->made_cnt, mpi_communicator_new(m->all, mpi_group_ref(group), NULL));
}

/* ---- intercommunicators ---- */

void mpi_making_two_sided(struct mpi_making *m)
{
	m->id = ++m->all->next_id;
}

struct mpi_communicator *mpi_making_other_side(struct mpi_making *m, struct mpi_group *group)
{
	struct mpi_communicator *c = mpi_communicator_new(m->all, group,
							  mpi_group_ref(m->parent_group));

	c->id = m->id;
	return c;
}

static void leader_free(struct mpi_leader *l)
{
	mpi_making_unref(l->making);
	free(l);
}

void mpi_leaders_release(struct mpi_comms *all)
{
	struct mpi_leader *l;

	while ((l = all->leaders)) {
		all->leaders = l->next;
		leader_free(l);
	}
}

struct mpi_group *mpi_making_remote(struct mpi_making *m)
{
	return group_from(m, remote_members, 0);
}

/* Stores only a group that is known by now, so that groups do not come to depend on each other. */
static void remote_set(struct mpi_making *m, struct mpi_group *remote)
{
	if (!m->remote && mpi_group_size(remote) >= 0)
		m->remote = mpi_group_ref(remote);
}

void mpi_making_lead(struct mpi_making *m, struct mpi_member leader, struct mpi_member remote,
		     int32_t tag)
{
	struct mpi_leader *l;
	uint32_t waiting = 0;

	for (struct mpi_leader **link = &m->all->leaders; (l = *link); link = &l->next, waiting++) {
		if (l->tag != tag || !mpi_member_same(l->own, remote) ||
		    !mpi_member_same(l->remote, leader))
			continue;
		remote_set(m, l->making->parent_group);
		remote_set(l->making, m->parent_group);
		mpi_making_two_sided(m);
		l->making->id = m->id;
		*link = l->next;
		leader_free(l);
		return;
	}
	if (waiting >= LEADERS_MAX)
		return;
	l = xcalloc(1, sizeof(*l));
	*l = (struct mpi_leader){leader, remote, tag, m, m->all->leaders};
	m->refs++;
	m->all->leaders = l;
}
