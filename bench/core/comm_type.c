/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A derived datatype of 32-char blocks with holes of the same size between them (Denis & Trahay
 * 2016, III.D). The remainder after the last whole block is part of the type.
 */
#include "core/comm_mpi.h"

#include "lib/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define BLOCK_BYTES 32
#define STRIDE_BYTES 64

struct type_entry {
	size_t bytes;
	MPI_Datatype type;
	struct type_entry *older;
};

/* Entries never change or move, so the lookup, which happens in timed code, takes no lock. */
struct type_cache {
	pthread_mutex_t lock; /* taken to add an entry, because several threads may send at once */
	struct type_entry *_Atomic newest;
};

struct type_cache *type_cache_new(void)
{
	struct type_cache *t = xcalloc(1, sizeof(*t));

	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void type_cache_free(struct type_cache *t)
{
	struct type_entry *e, *older;

	if (!t)
		return;
	for (e = t->newest; e; e = older) {
		older = e->older;
		MPI_Type_free(&e->type);
		free(e);
	}
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static MPI_Datatype strided_new(size_t bytes)
{
	int blocks = (int)(bytes / BLOCK_BYTES), rest = (int)(bytes % BLOCK_BYTES);
	MPI_Aint place[2] = {0, (MPI_Aint)blocks * STRIDE_BYTES};
	int length[2] = {1, rest};
	MPI_Datatype part[2] = {MPI_DATATYPE_NULL, MPI_CHAR}, type;

	MPI_Type_vector(blocks, BLOCK_BYTES, STRIDE_BYTES, MPI_CHAR, &part[0]);
	if (rest) {
		MPI_Type_create_struct(2, length, place, part, &type);
		MPI_Type_free(&part[0]);
	} else {
		type = part[0];
	}
	MPI_Type_commit(&type);
	return type;
}

/* Searches from the newest entry, because a sweep uses that one. */
static const struct type_entry *entry_find(struct type_cache *t, size_t bytes)
{
	const struct type_entry *e = atomic_load_explicit(&t->newest, memory_order_acquire);

	while (e && e->bytes != bytes)
		e = e->older;
	return e;
}

static const struct type_entry *entry_make(struct type_cache *t, size_t bytes)
{
	const struct type_entry *found;
	struct type_entry *e;

	pthread_mutex_lock(&t->lock);
	found = entry_find(t, bytes);
	if (!found) {
		e = xmalloc(sizeof(*e));
		*e = (struct type_entry){bytes, strided_new(bytes), t->newest};
		atomic_store_explicit(&t->newest, e, memory_order_release);
		found = e;
	}
	pthread_mutex_unlock(&t->lock);
	return found;
}

static MPI_Datatype strided_find(struct type_cache *t, size_t bytes)
{
	const struct type_entry *e = entry_find(t, bytes);

	return (e ? e : entry_make(t, bytes))->type;
}

void type_of_other(struct type_cache *t, const struct comm_msg *m, MPI_Datatype *type, int *cnt)
{
	if (m->bytes > INT_MAX)
		die("a message of %zu bytes; MPI's counts end at %d", m->bytes, INT_MAX);
	if (m->bytes > BLOCK_BYTES) {
		*type = strided_find(t, m->bytes);
		*cnt = 1;
	} else {
		*type = MPI_CHAR;
		*cnt = (int)m->bytes;
	}
}
