/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What calls teach about handles: sizes of derived datatypes from their constructors, rank and size of
 * communicators. A size that cannot be computed exactly is not learned.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "layer/mpi_decode.h"

#define TEXT_MAX 160
#define OLDTYPE_MAX 90

/* ---- datatypes ---- */

/* Σ blocklen[i] × size of types[i] */
static int64_t struct_bytes(const struct mpi_call *c)
{
	int lens = c->fn->at[ROLE_BLOCKLEN], types = c->fn->at[ROLE_TYPES];
	int64_t count, total = 0;

	if (mpi_call_value(c, ROLE_COUNT, &count) && !count)
		return 0;
	if (lens < 0 || types < 0 || !mpi_call_whole(c, lens) || !mpi_call_whole(c, types) ||
	    c->field[lens].cnt != c->field[types].cnt)
		return -1;
	for (uint32_t i = 0; i < c->field[lens].cnt; i++) {
		int64_t one = mpi_space_type_bytes(c->space, mpi_call_elem(c, types, i));
		int64_t len = mpi_call_elem(c, lens, i);

		total = plus(total, len ? times(len, one) : 0);
	}
	return total;
}

static int64_t subarray_elems(const struct mpi_call *c)
{
	int sub = c->fn->at[ROLE_SUBSIZES];
	int64_t elems = 1;

	if (!mpi_call_whole(c, sub))
		return -1;
	for (uint32_t i = 0; i < c->field[sub].cnt; i++)
		elems = times(elems, mpi_call_elem(c, sub, i));
	return elems;
}

/* How many elements of oldtype the new type has, or -1. */
static int64_t oldtype_elems(const struct mpi_call *c)
{
	int64_t count, len;

	if (c->fn->at[ROLE_SUBSIZES] >= 0)
		return subarray_elems(c);
	if (mpi_call_sum(c, ROLE_BLOCKLEN, &len))
		return len;
	if (!mpi_call_value(c, ROLE_COUNT, &count))
		return strstr(c->fn->base, "darray") ? -1 : 1; /* dup, resized */
	if (c->fn->at[ROLE_BLOCKLEN] < 0)
		return count; /* contiguous */
	return mpi_call_value(c, ROLE_BLOCKLEN, &len) ? times(count, len) : -1;
}

static int64_t newtype_bytes(const struct mpi_call *c)
{
	int64_t old, bytes;

	if (c->fn->at[ROLE_TYPES] >= 0)
		return struct_bytes(c);
	if (mpi_call_value(c, ROLE_OLDTYPE, &old))
		return times(oldtype_elems(c), mpi_space_type_bytes(c->space, old));
	if (!strcmp(c->fn->base, "Type_match_size") && mpi_call_value(c, ROLE_SIZE, &bytes))
		return bytes;
	return -1;
}

/* The numbers in a constructor's arguments, as "(4, 2, 8)". */
static void numbers_append(const struct mpi_call *c, struct arena *a, char **text)
{
	const char *sep = "(";

	for (uint32_t i = 0; i < c->parts.nargs; i++) {
		const struct sig_arg *arg = &c->fn->sig.arg[i];

		if (arg->dir != SIG_VALUE || arg->kind != SIG_KIND_NUM ||
		    !strcmp(arg->role, "order"))
			continue;
		*text = arena_printf(a, "%s%s%lld", *text, sep, (long long)mpi_call_typed(c, i));
		sep = ", ";
	}
	if (*sep == ',')
		*text = arena_printf(a, "%s)", *text);
}

/* "vector(4, 2, 8) of MPI_INT" */
static char *newtype_text(const struct mpi_call *c)
{
	const char *base = c->fn->base, *old_text;
	char *text;
	int64_t old;

	if (!strncmp(base, "Type_", 5))
		base += 5;
	if (!strncmp(base, "create_", 7))
		base += 7;
	text = arena_printf(c->arena, "%s", base);
	numbers_append(c, c->arena, &text);
	if (mpi_call_value(c, ROLE_OLDTYPE, &old)) {
		old_text = mpi_space_type_text(c->space, old);
		text = old_text ?
			       arena_printf(c->arena, "%s of %.*s", text, OLDTYPE_MAX, old_text) :
			       arena_printf(c->arena, "%s of 0x%llx", text,
					    (unsigned long long)old);
	}
	return xasprintf("%.*s", TEXT_MAX, text);
}

static void learn_newtype(struct mpi_call *c)
{
	int64_t handle;

	if (!mpi_call_first(c, ROLE_NEWTYPE, &handle) || mpi_space_name(c->space, handle))
		return;
	mpi_space_type_set(c->space, handle, newtype_bytes(c), newtype_text(c));
}

/* MPI_Type_size told: keep the text, if there is one. */
static void learn_type_size(struct mpi_call *c)
{
	const char *text;
	int64_t handle, bytes;

	if (!mpi_call_value(c, ROLE_DTYPE, &handle) || !mpi_call_first(c, ROLE_SIZE, &bytes) ||
	    bytes < 0 || mpi_space_type_bytes(c->space, handle) == bytes ||
	    mpi_space_name(c->space, handle))
		return;
	text = mpi_space_type_text(c->space, handle);
	mpi_space_type_set(c->space, handle, bytes, text ? xstrdup(text) : NULL);
}

int64_t mpi_call_type_bytes(const struct mpi_call *c, enum mpi_role role)
{
	int arg = c->fn->at[role];
	int64_t handle, bytes;

	if (!mpi_call_value(c, role, &handle) || (uint64_t)handle == c->space->type_null)
		return -1;
	if (c->field[arg].type == POV_FIELD_TYPE_SIZE) {
		memcpy(&bytes, c->field[arg].data, sizeof(bytes));
		return bytes >= 0 ? bytes : -1;
	}
	return mpi_space_type_bytes(c->space, handle);
}

/* ---- communicators ---- */

struct mpi_comm *mpi_call_comm(struct mpi_call *c)
{
	int64_t handle;

	if (!mpi_call_value(c, ROLE_COMM, &handle) || (uint64_t)handle == c->space->comm_null)
		return NULL;
	return mpi_space_comm(c->space, handle);
}

int32_t mpi_comm_peers(const struct mpi_comm *comm)
{
	return !comm ? -1 : comm->inter ? comm->remote : comm->size;
}

static void peers_learn(struct mpi_comm *comm, uint32_t cnt)
{
	if (!comm->inter && comm->size >= 0 && (uint32_t)comm->size != cnt)
		comm->inter = true; /* arrays are as long as the other side is large */
	if (comm->inter)
		comm->remote = cnt;
	else
		comm->size = cnt;
}

/* The lengths the kernel half found for arrays, and what it told of the communicator itself. */
static void learn_from_fields(struct mpi_call *c)
{
	struct mpi_comm *comm = mpi_call_comm(c);
	int64_t root;

	if (!comm)
		return;
	if (c->has_comm && c->comm.rank >= 0)
		comm->rank = c->comm.rank;
	if (c->has_comm && c->comm.size >= 0)
		peers_learn(comm, c->comm.size);
	for (uint32_t i = 0; i < c->parts.nargs; i++) {
		const struct mpi_field *f = &c->field[i];

		if (!f->type || f->cnt > INT32_MAX)
			continue;
		switch (c->fn->sig.arg[i].len) {
		case POV_LEN_ROOT_SIZE:
			if (f->type == POV_FIELD_TYPE_SIZE)
				break;
			peers_learn(comm, f->cnt);
			if (mpi_call_value(c, ROLE_ROOT, &root) && root >= 0 && !comm->inter)
				comm->rank = root; /* only the root has such a field */
			break;
		case POV_LEN_COMM_SIZE:
			peers_learn(comm, f->cnt);
			break;
		case POV_LEN_IN_DEGREE:
			comm->indeg = f->cnt;
			break;
		case POV_LEN_OUT_DEGREE:
			comm->outdeg = f->cnt;
			break;
		}
	}
}

static int32_t dims_product(const struct mpi_call *c)
{
	int dims = c->fn->at[ROLE_DIMS];
	int64_t n = 1;

	if (dims < 0 || !mpi_call_whole(c, dims))
		return -1;
	for (uint32_t i = 0; i < c->field[dims].cnt; i++)
		n = times(n, mpi_call_elem(c, dims, i));
	return n <= INT32_MAX ? n : -1;
}

static void learn_topology(struct mpi_call *c, const struct mpi_comm *old, struct mpi_comm *new)
{
	int64_t reorder = 1, n;

	mpi_call_value(c, ROLE_REORDER, &reorder);
	if (c->fn->lesson == LESSON_CART) {
		new->size = dims_product(c);
		if (c->fn->at[ROLE_DIMS] >= 0)
			new->indeg = new->outdeg = 2 * c->field[c->fn->at[ROLE_DIMS]].cnt;
	} else if (c->fn->lesson == LESSON_GRAPH) {
		new->size = mpi_call_value(c, ROLE_NNODES, &n) && n >= 0 ? n : -1;
	} else {
		new->size = old->size;
		if (mpi_call_value(c, ROLE_INDEG, &n) && n >= 0)
			new->indeg = n;
		if (mpi_call_value(c, ROLE_OUTDEG, &n) && n >= 0)
			new->outdeg = n;
	}
	if (!reorder)
		new->rank = old->rank;
}

static void learn_newcomm(struct mpi_call *c)
{
	struct mpi_comm old = {-1, -1, -1, -1, -1, false}, *known = mpi_call_comm(c), *new;
	int64_t handle, local;

	if (!mpi_call_first(c, ROLE_NEWCOMM, &handle) || (uint64_t)handle == c->space->comm_null)
		return;
	if (known)
		old = *known;
	else if (mpi_call_value(c, ROLE_LOCAL_COMM, &local))
		old = *mpi_space_comm(c->space, local);
	new = mpi_space_comm_renew(c->space, handle);
	switch (c->fn->lesson) {
	case LESSON_COMM_DUP:
		*new = old;
		break;
	case LESSON_INTERCOMM_NEW:
		new->inter = true;
		new->rank = old.rank;
		new->size = old.size;
		break;
	case LESSON_CART:
	case LESSON_GRAPH:
	case LESSON_DIST_GRAPH:
		learn_topology(c, &old, new);
		break;
	}
}

static void learn_comm_query(struct mpi_call *c)
{
	struct mpi_comm *comm = mpi_call_comm(c);
	int64_t v;

	if (!comm)
		return;
	if (c->fn->lesson == LESSON_COMM_SIZE && mpi_call_first(c, ROLE_SIZE, &v) && v >= 0)
		comm->size = v;
	if (c->fn->lesson == LESSON_COMM_RANK && mpi_call_first(c, ROLE_RANK, &v) && v >= 0)
		comm->rank = v;
	if (c->fn->lesson == LESSON_REMOTE_SIZE && mpi_call_first(c, ROLE_SIZE, &v) && v >= 0) {
		comm->inter = true;
		comm->remote = v;
	}
	if (c->fn->lesson == LESSON_DEGREES && mpi_call_first(c, ROLE_INDEG, &v) && v >= 0)
		comm->indeg = v;
	if (c->fn->lesson == LESSON_DEGREES && mpi_call_first(c, ROLE_OUTDEG, &v) && v >= 0)
		comm->outdeg = v;
}

void mpi_learn(struct mpi_call *c)
{
	learn_from_fields(c);
	if (!c->ok)
		return;
	switch (c->fn->lesson) {
	case LESSON_TYPE_NEW:
		learn_newtype(c);
		break;
	case LESSON_TYPE_SIZE:
		learn_type_size(c);
		break;
	case LESSON_COMM_SIZE:
	case LESSON_COMM_RANK:
	case LESSON_REMOTE_SIZE:
	case LESSON_DEGREES:
		learn_comm_query(c);
		break;
	case LESSON_COMM_DUP:
	case LESSON_COMM_NEW:
	case LESSON_INTERCOMM_NEW:
	case LESSON_CART:
	case LESSON_GRAPH:
	case LESSON_DIST_GRAPH:
		learn_newcomm(c);
		break;
	}
}

void mpi_forget(struct mpi_call *c)
{
	int64_t handle;

	if (!c->ok)
		return;
	if (c->fn->lesson == LESSON_TYPE_FREE && mpi_call_first(c, ROLE_DTYPE, &handle))
		mpi_space_type_forget(c->space, handle);
	if (c->fn->lesson == LESSON_COMM_FREE && mpi_call_first(c, ROLE_COMM, &handle))
		mpi_space_comm_forget(c->space, handle);
}
