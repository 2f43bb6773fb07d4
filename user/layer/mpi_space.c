/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What was learned about a process's handles. Nothing is guessed: what no call and no meta object
 * told is -1 or NULL.
 */
#include "layer/mpi_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "layer/mpi_space_priv.h"

/* Learned entries of one kind kept per space; a trace with losses could add to them for ever. */
#define ENTRIES_MAX (1u << 18)
/* Of one handle; each but the newest is being completed by another thread. */
#define GENERATIONS_MAX 64

static void map_free_values(struct map *m)
{
	void *value;

	for (size_t at = 0; (value = map_next(m, &at, NULL));)
		free(value);
	map_release(m);
}

static void type_free(struct mpi_type *t)
{
	if (!t)
		return;
	free(t->text);
	free(t);
}

static void types_free(struct map *m)
{
	void *value;

	for (size_t at = 0; (value = map_next(m, &at, NULL));)
		type_free(value);
	map_release(m);
}

static void requests_free(struct mpi_space *s)
{
	struct mpi_request *r, *older;

	for (size_t at = 0; (r = map_next(&s->requests, &at, NULL));) {
		for (; r; r = older) {
			older = r->older;
			free(r);
		}
	}
	map_release(&s->requests);
	s->nrequests = 0;
}

void mpi_space_init(struct mpi_space *s, const struct mpi_flavour_info *flavour)
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

void mpi_space_release(struct mpi_space *s)
{
	map_free_values(&s->named);
	types_free(&s->types);
	map_free_values(&s->comms);
	requests_free(s);
	type_free(s->doomed);
	s->doomed = NULL;
}

static const struct mpi_predefined *predefined(const struct mpi_space *s, uint64_t handle)
{
	return map_get(&s->named, handle);
}

const char *mpi_space_name(const struct mpi_space *s, uint64_t handle)
{
	const struct mpi_predefined *p = predefined(s, handle);

	return p ? p->name : NULL;
}

int64_t mpi_space_type_bytes(const struct mpi_space *s, uint64_t handle)
{
	const struct mpi_predefined *p = predefined(s, handle);
	const struct mpi_type *t;

	if (handle == s->type_null)
		return -1;
	if (p && p->bytes > 0)
		return p->bytes;
	t = map_get(&s->types, handle);
	return t ? t->bytes : mpi_flavour_type_bytes(s->flavour, handle);
}

const char *mpi_space_type_text(const struct mpi_space *s, uint64_t handle)
{
	const char *name = mpi_space_name(s, handle);
	const struct mpi_type *t = name ? NULL : map_get(&s->types, handle);

	return t ? t->text : name;
}

void mpi_space_type_forget(struct mpi_space *s, uint64_t handle)
{
	struct mpi_type *t = map_remove(&s->types, handle);

	if (!t)
		return;
	type_free(s->doomed);
	s->doomed = t;
}

void mpi_space_type_set(struct mpi_space *s, uint64_t handle, int64_t bytes, char *text)
{
	struct mpi_type *t;

	mpi_space_type_forget(s, handle);
	if (s->types.cnt >= ENTRIES_MAX)
		types_free(&s->types);
	t = xmalloc(sizeof(*t));
	t->bytes = bytes;
	t->text = text;
	map_set(&s->types, handle, t);
}

/* The world's and the process's own communicator are known without learning. */
static void comm_init(const struct mpi_space *s, uint64_t handle, struct mpi_comm *c)
{
	const char *name = mpi_space_name(s, handle);

	*c = (struct mpi_comm){-1, -1, -1, -1, -1, false};
	if (!name)
		return;
	if (!strcmp(name, "MPI_COMM_WORLD")) {
		c->rank = s->world_rank;
		c->size = s->world_size;
	} else if (!strcmp(name, "MPI_COMM_SELF")) {
		c->rank = 0;
		c->size = 1;
	}
}

struct mpi_comm *mpi_space_comm(struct mpi_space *s, uint64_t handle)
{
	struct mpi_comm *c = map_get(&s->comms, handle);

	if (c)
		return c;
	if (s->comms.cnt >= ENTRIES_MAX)
		map_free_values(&s->comms);
	c = xmalloc(sizeof(*c));
	comm_init(s, handle, c);
	map_set(&s->comms, handle, c);
	return c;
}

struct mpi_comm *mpi_space_comm_renew(struct mpi_space *s, uint64_t handle)
{
	struct mpi_comm *c = mpi_space_comm(s, handle);

	comm_init(s, handle, c);
	return c;
}

void mpi_space_comm_forget(struct mpi_space *s, uint64_t handle)
{
	free(map_remove(&s->comms, handle));
}

bool mpi_space_request_is_shared(const struct mpi_space *s, uint64_t handle)
{
	return handle == s->request_null || handle == s->request_empty ||
	       mpi_flavour_is_builtin(s->flavour, handle);
}

/* Completions that were lost leave generations behind. */
static void generations_cut(struct mpi_space *s, struct mpi_request *r)
{
	struct mpi_request *older;
	int n;

	for (n = 1; n < GENERATIONS_MAX && r; n++)
		r = r->older;
	while (r && (older = r->older)) {
		r->older = older->older;
		free(older);
		s->nrequests--;
	}
}

void mpi_space_request_add(struct mpi_space *s, uint64_t handle, struct mpi_request r)
{
	struct mpi_request *added;

	if (s->nrequests >= ENTRIES_MAX)
		requests_free(s);
	added = xmalloc(sizeof(*added));
	*added = r;
	added->older = map_set(&s->requests, handle, added);
	s->nrequests++;
	generations_cut(s, added);
}

const struct mpi_request *mpi_space_request(const struct mpi_space *s, uint64_t handle,
					    uint64_t begin_ns)
{
	const struct mpi_request *r = map_get(&s->requests, handle);

	while (r && r->since_ns > begin_ns)
		r = r->older;
	return r;
}

void mpi_space_request_forget(struct mpi_space *s, uint64_t handle, uint64_t begin_ns)
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
	free(r);
	s->nrequests--;
}
