/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Knowledge of a process's handles. Nothing is guessed: data that no call and no meta object
 * revealed are -1 or NULL.
 */
#include "layers/mpi/mpi_process.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

#define OLDER_MAX 8 /* messages that used one handle one after the other */
/* Most entries of one kind kept per process; with losses, a trace could add to them for ever. */
#define ENTRIES_MAX (1u << 18)
/* Most requests of one handle; each but the newest is being completed by another thread. */
#define GENERATIONS_MAX 64

static void type_free(void *value)
{
	struct mpi_type *t = value;

	if (t)
		free(t->text);
	free(t);
}

static void comm_release(struct mpi_known_comm *c)
{
	mpi_communicator_unref(c->whole);
	mpi_making_unref(c->announced);
	free(c->dims);
}

static void comm_free(void *value)
{
	if (value)
		comm_release(value);
	free(value);
}

static void group_free(void *value)
{
	mpi_group_unref(value);
}

/* Frees an origin and those that it has replaced. */
static void origins_free(void *value)
{
	struct mpi_origin *next;

	for (struct mpi_origin *o = value; o; o = next) {
		next = o->older;
		mpi_communicator_unref(o->comm);
		free(o);
	}
}

static void request_free(struct mpi_request *r)
{
	mpi_communicator_unref(r->comm);
	free(r);
}

/* Frees a request and all older ones. */
static void generations_free(void *value)
{
	struct mpi_request *older;

	for (struct mpi_request *r = value; r; r = older) {
		older = r->older;
		request_free(r);
	}
}

/* Empties a map with too many entries. */
static void map_trim(struct map *m, void (*value_free)(void *value))
{
	if (m->cnt >= ENTRIES_MAX)
		map_free(m, value_free);
}

/* Frees what was kept for the current view. */
static void view_release(struct mpi_process *s)
{
	generations_free(s->over);
	s->over = NULL;
	type_free(s->doomed);
	s->doomed = NULL;
}

void mpi_process_init(struct mpi_process *s, const struct mpi_flavour_info *flavour)
{
	memset(s, 0, sizeof(*s));
	s->flavour = flavour;
	s->handle_bytes = flavour->handle_bytes;
	s->status_bytes = flavour->status_bytes;
	s->world_rank = -1;
	s->world_size = -1;
	s->request_null = flavour->request_null;
	s->request_empty = flavour->request_null;
	s->type_null = flavour->type_null;
	s->comm_null = flavour->comm_null;
}

void mpi_process_release(struct mpi_process *s)
{
	map_free(&s->named, free);
	map_free(&s->types, type_free);
	map_free(&s->comms, comm_free);
	map_free(&s->groups, group_free);
	map_free(&s->origins, origins_free);
	map_free(&s->requests, generations_free);
	view_release(s);
}

const char *mpi_process_name(const struct mpi_process *s, uint64_t handle)
{
	const struct mpi_predefined *p = map_get(&s->named, handle);

	return p ? p->name : NULL;
}

int64_t mpi_process_type_bytes(const struct mpi_process *s, uint64_t handle)
{
	const struct mpi_predefined *p = map_get(&s->named, handle);
	const struct mpi_type *t;

	if (handle == s->type_null)
		return -1;
	if (p && p->bytes > 0)
		return p->bytes;
	t = map_get(&s->types, handle);
	return t ? t->bytes : mpi_flavour_type_bytes(s->flavour, handle);
}

const char *mpi_process_type_text(const struct mpi_process *s, uint64_t handle)
{
	const char *name = mpi_process_name(s, handle);
	const struct mpi_type *t = name ? NULL : map_get(&s->types, handle);

	return t ? t->text : name;
}

void mpi_process_type_forget(struct mpi_process *s, uint64_t handle)
{
	struct mpi_type *t = map_remove(&s->types, handle);

	if (!t)
		return;
	type_free(s->doomed);
	s->doomed = t;
}

void mpi_process_type_set(struct mpi_process *s, uint64_t handle, int64_t bytes, char *text)
{
	struct mpi_type *t;

	mpi_process_type_forget(s, handle);
	map_trim(&s->types, type_free);
	t = xmalloc(sizeof(*t));
	t->bytes = bytes;
	t->text = text;
	map_set(&s->types, handle, t);
}

struct mpi_member mpi_process_self(const struct mpi_process *s)
{
	return (struct mpi_member){s->job, s->world_rank};
}

static struct mpi_communicator *self_new(const struct mpi_process *s)
{
	struct mpi_member *self = xmalloc(sizeof(*self));

	*self = mpi_process_self(s);
	return mpi_communicator_new(s->trace_comms, mpi_group_new(self, 1), NULL);
}

/* The world's communicator and the process's own are known without learning. */
static void comm_init(const struct mpi_process *s, uint64_t handle, struct mpi_known_comm *c)
{
	const char *name = mpi_process_name(s, handle);

	*c = (struct mpi_known_comm){
		.rank = -1, .size = -1, .remote = -1, .indeg = -1, .outdeg = -1};
	if (!name)
		return;
	if (!strcmp(name, "MPI_COMM_WORLD")) {
		c->rank = s->world_rank;
		c->size = s->world_size;
		c->is_world = true;
		if (s->trace_comms)
			c->whole = mpi_comms_world(s->trace_comms, s->job, s->world_size);
	} else if (!strcmp(name, "MPI_COMM_SELF")) {
		c->rank = 0;
		c->size = 1;
		if (s->trace_comms)
			c->whole = self_new(s);
	}
}

struct mpi_known_comm *mpi_process_comm(struct mpi_process *s, uint64_t handle)
{
	struct mpi_known_comm *c = map_get(&s->comms, handle);

	if (c)
		return c;
	c = xmalloc(sizeof(*c));
	comm_init(s, handle, c);
	map_set(&s->comms, handle, c);
	return c;
}

struct mpi_known_comm *mpi_process_comm_renew(struct mpi_process *s, uint64_t handle)
{
	struct mpi_known_comm *c = mpi_process_comm(s, handle);

	comm_release(c);
	comm_init(s, handle, c);
	return c;
}

void mpi_process_comm_forget(struct mpi_process *s, uint64_t handle)
{
	comm_free(map_remove(&s->comms, handle));
}

void mpi_process_world_set(struct mpi_process *s, int32_t job, int32_t rank, int32_t size)
{
	struct mpi_predefined *p;
	uint64_t handle;

	if (job == s->job && rank == s->world_rank && size == s->world_size)
		return;
	s->job = job;
	s->world_rank = rank;
	s->world_size = size;
	for (size_t at = 0; (p = map_next(&s->named, &at, &handle));)
		if (!strcmp(p->name, "MPI_COMM_WORLD") || !strcmp(p->name, "MPI_COMM_SELF"))
			mpi_process_comm_forget(s, handle);
}

struct mpi_group *mpi_process_group(struct mpi_process *s, uint64_t handle)
{
	struct mpi_group *g = map_get(&s->groups, handle);
	const char *name = g ? NULL : mpi_process_name(s, handle);

	if (name && !strcmp(name, "MPI_GROUP_EMPTY")) {
		g = mpi_group_new(NULL, 0);
		map_set(&s->groups, handle, g);
	}
	return g;
}

void mpi_process_group_set(struct mpi_process *s, uint64_t handle, struct mpi_group *g)
{
	mpi_group_unref(g ? map_set(&s->groups, handle, g) : map_remove(&s->groups, handle));
}

const struct mpi_origin *mpi_process_origin(const struct mpi_process *s, uint64_t key,
					    uint64_t begin_ns)
{
	const struct mpi_origin *o = map_get(&s->origins, key);

	while (o && o->since_ns > begin_ns)
		o = o->older;
	return o;
}

void mpi_process_origin_set(struct mpi_process *s, uint64_t key, struct mpi_origin o)
{
	struct mpi_origin *known = xmalloc(sizeof(*known)), *last = known;

	*known = o;
	known->older = map_set(&s->origins, key, known);
	for (int i = 0; i < OLDER_MAX && last->older; i++)
		last = last->older;
	origins_free(last->older);
	last->older = NULL;
}

void mpi_process_origin_forget(struct mpi_process *s, uint64_t key, uint64_t begin_ns)
{
	struct mpi_origin *newest = map_get(&s->origins, key);

	if (newest && newest->since_ns > begin_ns) {
		origins_free(newest->older);
		newest->older = NULL;
	} else {
		origins_free(map_remove(&s->origins, key));
	}
}

bool mpi_process_trim(struct mpi_process *s, uint64_t left_out)
{
	bool doubtful = s->left_out != left_out;

	view_release(s);
	map_trim(&s->comms, comm_free);
	map_trim(&s->groups, group_free);
	map_trim(&s->origins, origins_free);
	s->left_out = left_out;
	if (s->nrequests < ENTRIES_MAX && !doubtful)
		return false;
	map_free(&s->requests, generations_free);
	s->nrequests = 0;
	return true;
}

bool mpi_process_request_is_shared(const struct mpi_process *s, uint64_t handle)
{
	return handle == s->request_null || handle == s->request_empty ||
	       mpi_flavour_is_builtin(s->flavour, handle);
}

/* Limits the number of generations: one whose completion was lost stays for ever. */
static void generations_cut(struct mpi_process *s, struct mpi_request *r)
{
	struct mpi_request *older;

	for (int n = 1; n < GENERATIONS_MAX && r; n++)
		r = r->older;
	while (r && (older = r->older)) {
		r->older = older->older;
		request_free(older);
		s->nrequests--;
	}
}

int64_t mpi_request_in_flight(const struct mpi_request *r)
{
	const struct call_roles *roles = &r->op.roles;
	int64_t send = roles->sends && roles->send_bytes > 0 ? roles->send_bytes : 0;
	int64_t recv = roles->receives && roles->recv_bytes > 0 ? roles->recv_bytes : 0;

	return !r->active ? 0 : send > INT64_MAX / 4 || recv > INT64_MAX / 4 ? 0 : send + recv;
}

int64_t mpi_process_request_add(struct mpi_process *s, uint64_t handle, const struct mpi_request *r)
{
	struct mpi_request *added = xmalloc(sizeof(*added));
	int64_t ended_bytes = 0;

	*added = *r;
	added->older = map_set(&s->requests, handle, added);
	if (added->older) {
		ended_bytes = mpi_request_in_flight(added->older);
		added->older->active = false;
	}
	s->nrequests++;
	generations_cut(s, added);
	return ended_bytes;
}

struct mpi_request *mpi_process_request(const struct mpi_process *s, uint64_t handle,
					uint64_t begin_ns)
{
	struct mpi_request *r = map_get(&s->requests, handle);

	while (r && r->since_ns > begin_ns)
		r = r->older;
	return r;
}

void mpi_process_request_forget(struct mpi_process *s, uint64_t handle, uint64_t begin_ns)
{
	struct mpi_request *r = map_get(&s->requests, handle), *newer = NULL;

	for (; r && r->since_ns > begin_ns; r = r->older)
		newer = r;
	if (!r)
		return;
	if (newer)
		newer->older = r->older;
	else if (r->older)
		map_set(&s->requests, handle, r->older);
	else
		map_remove(&s->requests, handle);
	s->nrequests--;
	r->older = s->over;
	s->over = r;
}
