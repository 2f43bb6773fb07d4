/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See mpi_comm_internal.h. A call that waits for its job is on a list until the job is found. */
#include "layers/mpi/mpi_comm_internal.h"

#include <stdlib.h>

#include "lib/log.h"

/* A call as made by its root. */
struct spawn {
	struct mpi_making *making; /* a reference */
	struct mpi_member root;
	int32_t size;
	uint64_t begin_ns, end_ns; /* end_ns: UINT64_MAX until it has returned */
	struct spawn *next;
};

struct job {
	struct mpi_spawned is;
	struct mpi_making *by;		  /* call that started it: a reference; NULL: not found */
	struct mpi_communicator *parents; /* a reference; NULL: not asked for yet */
};

struct mpi_spawns {
	struct spawn *open; /* calls whose jobs have not been found */
	struct map jobs;    /* number → struct job */
};

static struct mpi_spawns *spawns_of(struct mpi_comms *all)
{
	if (!all->spawns)
		all->spawns = xcalloc(1, sizeof(*all->spawns));
	return all->spawns;
}

static void spawn_remove(struct spawn **link)
{
	struct spawn *s = *link;

	*link = s->next;
	mpi_making_unref(s->making);
	free(s);
}

static void job_free(void *value)
{
	struct job *j = value;

	mpi_making_unref(j->by);
	mpi_communicator_unref(j->parents);
	free(j);
}

void mpi_spawns_free(struct mpi_spawns *s)
{
	if (!s)
		return;
	while (s->open)
		spawn_remove(&s->open);
	map_free(&s->jobs, job_free);
	free(s);
}

void mpi_spawned_add(struct mpi_comms *all, const struct mpi_spawned *spawned)
{
	struct job *j = map_make(&spawns_of(all)->jobs, (uint32_t)spawned->job, sizeof(*j));

	j->is = *spawned;
}

/*
 * Drops calls that ended before any call in flight began: they have nothing to do with future jobs.
 */
static void spawns_prune(struct mpi_spawns *all)
{
	uint64_t first_ns = UINT64_MAX;
	struct spawn **link = &all->open;

	for (const struct spawn *s = all->open; s; s = s->next)
		if (s->end_ns == UINT64_MAX && s->begin_ns < first_ns)
			first_ns = s->begin_ns;
	while (*link)
		if ((*link)->end_ns < first_ns)
			spawn_remove(link);
		else
			link = &(*link)->next;
}

void mpi_spawn_begin(struct mpi_comms *all, struct mpi_making *m, struct mpi_member root,
		     int32_t size, uint64_t begin_ns)
{
	struct spawn *s = xcalloc(1, sizeof(*s));

	*s = (struct spawn){mpi_making_ref(m), root,	   size,
			    begin_ns,	       UINT64_MAX, spawns_of(all)->open};
	all->spawns->open = s;
	spawns_prune(all->spawns);
	mpi_making_two_sided(m);
}

void mpi_spawn_end(struct mpi_comms *all, struct mpi_making *m, struct mpi_member who, bool ok,
		   uint64_t ts_ns)
{
	struct spawn **link = &spawns_of(all)->open;

	while (*link && (*link)->making != m)
		link = &(*link)->next;
	if (!*link || !mpi_member_same((*link)->root, who))
		return;
	(*link)->end_ns = ts_ns;
	if (!ok)
		spawn_remove(link);
}

/* ---- matching calls and jobs ---- */

static bool may_have_started(const struct spawn *s, const struct job *j)
{
	return !j->by && j->is.to_ns >= s->begin_ns && j->is.from_ns <= s->end_ns &&
	       (j->is.root.rank < 0 || mpi_member_same(j->is.root, s->root)) &&
	       (s->size < 0 || s->size == j->is.size);
}

static bool has_started_all(const struct spawn *s, const struct job *j, uint64_t now_ns)
{
	return j->is.from_ns > s->begin_ns && j->is.to_ns < s->end_ns && j->is.to_ns < now_ns &&
	       (j->is.root.rank >= 0 || s->size >= 0);
}

/* The only job that the call can have started, provided that no other call can have. */
static struct job *job_of(const struct mpi_spawns *all, const struct spawn *s, uint64_t now_ns)
{
	struct job *found = NULL, *j;

	for (size_t at = 0; (j = map_next(&all->jobs, &at, NULL));) {
		if (j->is.from_ns > now_ns || !may_have_started(s, j))
			continue;
		if (found)
			return NULL;
		found = j;
	}
	if (!found || !has_started_all(s, found, now_ns))
		return NULL;
	for (const struct spawn *other = all->open; other; other = other->next)
		if (other != s && may_have_started(other, found))
			return NULL;
	return found;
}

static void jobs_find(struct mpi_spawns *all, uint64_t now_ns)
{
	struct spawn **link = &all->open;
	struct job *j;

	while (*link) {
		j = job_of(all, *link, now_ns);
		if (!j) {
			link = &(*link)->next;
			continue;
		}
		j->by = mpi_making_ref((*link)->making);
		spawn_remove(link);
	}
}

struct mpi_group *mpi_spawn_children(struct mpi_comms *all, struct mpi_making *m, uint64_t now_ns)
{
	size_t at = 0;
	struct job *j;

	jobs_find(spawns_of(all), now_ns);
	while ((j = map_next(&all->spawns->jobs, &at, NULL)) && j->by != m)
		;
	return j ? mpi_group_world(j->is.job, j->is.size) : mpi_group_unknown(PEER_UNKNOWN_OTHER);
}

struct mpi_communicator *mpi_spawn_parents(struct mpi_comms *all, int32_t job, int32_t size,
					   uint64_t now_ns)
{
	struct mpi_group *world = mpi_group_world(job, size);
	struct job *j;

	jobs_find(spawns_of(all), now_ns);
	j = map_get(&all->spawns->jobs, (uint32_t)job);
	if (!j || !j->by)
		return mpi_communicator_new(all, world, mpi_group_unknown(PEER_UNKNOWN_OTHER));
	if (!j->parents)
		j->parents = mpi_making_other_side(j->by, mpi_group_ref(world));
	mpi_group_unref(world);
	return mpi_communicator_ref(j->parents);
}
