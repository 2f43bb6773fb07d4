/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Denis & Trahay 2016, III.D: a derived datatype of blocks of 32 chars with holes as large between them. What is left
 * behind the last whole block is part of the type.
 */
#include "core/comm_type.h"

#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>

#define BLOCK_BYTES 32
#define STRIDE_BYTES 64

struct type_entry {
	size_t bytes;
	MPI_Datatype type;
};

struct type_cache {
	pthread_mutex_t lock; /* several threads may send at once */
	struct type_entry *entry;
	size_t cnt;
};

struct type_cache *type_cache_new(void)
{
	struct type_cache *t = xcalloc(1, sizeof(*t));

	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void type_cache_free(struct type_cache *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->cnt; i++)
		MPI_Type_free(&t->entry[i].type);
	free(t->entry);
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

static MPI_Datatype strided_find(struct type_cache *t, size_t bytes)
{
	MPI_Datatype type;
	size_t i;

	pthread_mutex_lock(&t->lock);
	/* From the last one made: a sweep asks for that. */
	for (i = t->cnt; i && t->entry[i - 1].bytes != bytes; i--)
		;
	if (!i) {
		t->entry = xrealloc(t->entry, (t->cnt + 1) * sizeof(*t->entry));
		t->entry[t->cnt++] = (struct type_entry){bytes, strided_new(bytes)};
		i = t->cnt;
	}
	type = t->entry[i - 1].type;
	pthread_mutex_unlock(&t->lock);
	return type;
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
