/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A making waits on its parent's list until all members have called and returned. Calls that were lost with their records
 * shift nothing: a making that somebody had returned from before a call began is not the one that this call belongs to, since
 * no member returns before all have called.
 */
#include "layer/mpi_comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "layer/mpi_comm_of_group.h"

#define MAKINGS_MAX 64	/* of one parent, waiting for members */
#define LEADERS_MAX 256 /* makings of intercommunicators whose other side has not called */
#define REPORTS_MAX (1 << 22)

struct mpi_comms {
	struct map jobs;   /* hash of the name → job + 1 */
	struct map worlds; /* job → struct mpi_communicator */
	int32_t njobs;
	uint32_t next_id;
	struct leader *leaders; /* newest first */
	struct mpi_group_makings of_groups;
	struct map
		two_sided; /* id of an intercommunicator, number of a making → id of what is made */
	struct mpi_communicator *unused; /* to be freed */
	bool freeing;
};

struct mpi_communicator {
	uint32_t refs, id;
	struct mpi_comms *all;
	struct mpi_group *group, *remote;
	struct mpi_group *either[2]; /* not decided yet */
	struct mpi_making *makings;  /* by number */
	uint32_t next_number;
	bool conflict, checked;	     /* checked: the reports, against the group */
	struct mpi_member *reported; /* by rank: report_size of them, job -1 where nobody has */
	int32_t report_size;
	struct mpi_making *placing; /* by reports; a reference, or NULL */
	bool has_context;
	uint64_t context;
	struct mpi_communicator *next_unused;
};

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
	bool places; /* its members are known once all are placed */
	bool closed, sorted;
	struct made *made; /* given up when it is closed */
	uint32_t made_cnt;
	struct mpi_group *remote; /* once the other side's leader has called */
	uint32_t id; /* of what is made, if the other side of an intercommunicator makes the same; else 0 */
	struct mpi_making *next;
};

/* The leader of a side that waits for the other one. */
struct leader {
	struct mpi_member own, remote;
	int32_t tag;
	struct mpi_making *making; /* a reference */
	struct leader *next;
};

/* ---- all ---- */

struct mpi_comms *mpi_comms_new(void)
{
	return xcalloc(1, sizeof(struct mpi_comms));
}

struct mpi_group_makings *mpi_comms_of_groups(struct mpi_comms *all)
{
	return &all->of_groups;
}

static void leader_free(struct leader *l)
{
	mpi_making_unref(l->making);
	free(l);
}

void mpi_comms_free(struct mpi_comms *all)
{
	struct mpi_communicator *c;
	struct leader *l;

	if (!all)
		return;
	for (size_t at = 0; (c = map_next(&all->worlds, &at, NULL));)
		mpi_communicator_unref(c);
	map_release(&all->worlds);
	map_release(&all->jobs);
	map_release(&all->two_sided);
	mpi_group_makings_release(&all->of_groups);
	while ((l = all->leaders)) {
		all->leaders = l->next;
		leader_free(l);
	}
	free(all);
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

/* ---- one ---- */

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

	if (!c || (mpi_group_size(c->group) < 0 && size >= 0)) { /* its size turned out later */
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

/* No more calls are waited for; who made it and what it made refer to each other no longer. */
static void oldest_close(struct mpi_communicator *parent)
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

static void communicator_free(struct mpi_communicator *c)
{
	while (c->makings)
		oldest_close(c);
	mpi_group_unref(c->group);
	mpi_group_unref(c->remote);
	mpi_group_unref(c->either[0]);
	mpi_group_unref(c->either[1]);
	mpi_making_unref(c->placing);
	free(c->reported);
	free(c);
}

/* One after the other, however long a chain of communicators made of each other is. */
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

/* ---- who is who in it ---- */

/* What members said of themselves must be what their calls together say. */
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

/* ---- making ---- */

void mpi_making_unref(struct mpi_making *m)
{
	if (!m || --m->refs)
		return;
	mpi_group_unref(m->parent_group);
	mpi_group_unref(m->remote);
	free(m->part);
	free(m);
}

static bool all_called(const struct mpi_making *m)
{
	int32_t size = mpi_group_size(m->parent_group);

	return size >= 0 && m->part_cnt >= (uint32_t)size;
}

/* Not one that another function makes, nor one that was over before the call began. */
static bool may_join(const struct mpi_making *m, const char *call, uint64_t begin_ns,
		     bool one_clock)
{
	return !strcmp(m->call, call) && !all_called(m) &&
	       !(one_clock && m->first_return_ns && m->first_return_ns < begin_ns);
}

/* Both sides of an intercommunicator make the same of it; each side has its own object, of one id. */
static uint32_t two_sided_id(const struct mpi_communicator *parent, uint32_t number)
{
	uint64_t key = (uint64_t)parent->id << 32 | number;
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

	m->refs = 1; /* the list's */
	m->number = parent->next_number++;
	m->call = call;
	m->all = parent->all;
	m->parent_group = mpi_group_ref(parent->group);
	m->id = two_sided_id(parent, m->number);
	*link = m;
	if (waiting >= MAKINGS_MAX)
		oldest_close(parent);
	return m;
}

struct mpi_making *mpi_making_join(struct mpi_communicator *parent, uint32_t *joined,
				   const char *call, const struct mpi_part *part, uint64_t begin_ns,
				   bool one_clock)
{
	struct mpi_making **link, *m;
	uint32_t waiting = 0;

	/* those from which all have returned are at the list's head */
	while ((m = parent->makings) && all_called(m) && m->returned >= m->part_cnt)
		oldest_close(parent);
	for (link = &parent->makings; (m = *link); link = &m->next) {
		if (m->number >= *joined && may_join(m, call, begin_ns, one_clock))
			break;
		waiting++;
	}
	if (!m)
		m = making_append(parent, call, link, waiting);
	*joined = m->number + 1;
	if (!(m->part_cnt & (m->part_cnt - 1)))
		m->part = xrealloc(m->part, (2 * m->part_cnt ?: 1) * sizeof(*m->part));
	m->part[m->part_cnt++] = *part;
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

static int part_compare(const void *va, const void *vb)
{
	const struct mpi_part *a = va, *b = vb;

	if (a->color != b->color)
		return a->color < b->color ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->parent_rank < b->parent_rank ? -1 : a->parent_rank > b->parent_rank;
}

/* Those who gave a colour, in order of their keys, and of their ranks in the parent where these are equal. */
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

	(void)key;
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
		m->made = xrealloc(m->made, (m->made_cnt + 1) * sizeof(*m->made));
		m->made[m->made_cnt++] = (struct made){key, mpi_communicator_ref(c)};
	}
	return c;
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

struct mpi_group *mpi_making_remote(struct mpi_making *m)
{
	return group_from(m, remote_members, 0);
}

/* Only one that is known by now, so that groups do not come to depend on each other. */
static void remote_set(struct mpi_making *m, struct mpi_group *remote)
{
	if (!m->remote && mpi_group_size(remote) >= 0)
		m->remote = mpi_group_ref(remote);
}

void mpi_making_lead(struct mpi_making *m, struct mpi_member leader, struct mpi_member remote,
		     int32_t tag)
{
	struct leader **link, *l;
	uint32_t waiting = 0;

	for (link = &m->all->leaders; (l = *link); link = &l->next, waiting++) {
		if (l->tag != tag || !mpi_member_same(l->own, remote) ||
		    !mpi_member_same(l->remote, leader))
			continue;
		remote_set(m, l->making->parent_group);
		remote_set(l->making, m->parent_group);
		m->id = l->making->id = ++m->all->next_id;
		*link = l->next;
		leader_free(l);
		return;
	}
	if (waiting >= LEADERS_MAX)
		return;
	l = xcalloc(1, sizeof(*l));
	*l = (struct leader){leader, remote, tag, m, m->all->leaders};
	m->refs++;
	m->all->leaders = l;
}
