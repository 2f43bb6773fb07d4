/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What calls teach about datatypes: sizes of derived ones from their constructors. A size that cannot be computed exactly is
 * not learned.
 */
#include <string.h>

#include "lib/log.h"
#include "layers/mpi/mpi_decode.h"

#define TEXT_MAX 160
#define OLDTYPE_MAX 90

int64_t mpi_call_pairs_bytes(const struct mpi_call *c, int counts, int types)
{
	int64_t total = 0;

	if (counts < 0 || types < 0 || !mpi_call_whole(c, counts) || !mpi_call_whole(c, types) ||
	    c->field[counts].cnt != c->field[types].cnt)
		return -1;
	for (uint32_t i = 0; i < c->field[counts].cnt; i++)
		total = plus(total, scaled(mpi_call_elem(c, counts, i),
					   mpi_process_type_bytes(c->process,
								  mpi_call_elem(c, types, i))));
	return total;
}

static int64_t struct_bytes(const struct mpi_call *c)
{
	int64_t count;

	if (mpi_call_value(c, ROLE_count, &count) && !count)
		return 0;
	return mpi_call_pairs_bytes(c, c->fn->at[ROLE_blocklen], c->fn->at[ROLE_types]);
}

int64_t mpi_call_product(const struct mpi_call *c, enum mpi_role role)
{
	int arg = c->fn->at[role];
	int64_t n = 1;

	if (arg < 0 || !mpi_call_whole(c, arg))
		return -1;
	for (uint32_t i = 0; i < c->field[arg].cnt; i++)
		n = times(n, mpi_call_elem(c, arg, i));
	return n;
}

/* How many elements of oldtype the new type has, or -1. */
static int64_t oldtype_elems(const struct mpi_call *c)
{
	int64_t count, len;

	if (c->fn->at[ROLE_subsizes] >= 0)
		return mpi_call_product(c, ROLE_subsizes);
	if (mpi_call_sum(c, ROLE_blocklen, &len))
		return len;
	if (!mpi_call_value(c, ROLE_count, &count))
		return strstr(c->fn->base, "darray") ? -1 : 1; /* dup, resized */
	if (c->fn->at[ROLE_blocklen] < 0)
		return count; /* contiguous */
	return mpi_call_value(c, ROLE_blocklen, &len) ? times(count, len) : -1;
}

static int64_t newtype_bytes(const struct mpi_call *c)
{
	int64_t old, bytes;

	if (c->fn->at[ROLE_types] >= 0)
		return struct_bytes(c);
	if (mpi_call_value(c, ROLE_oldtype, &old))
		return times(oldtype_elems(c), mpi_process_type_bytes(c->process, old));
	if (!strcmp(c->fn->base, "Type_match_size") && mpi_call_value(c, ROLE_size, &bytes))
		return bytes;
	return -1;
}

/* The numbers in a constructor's arguments, as "(4, 2, 8)", behind its name. */
static const char *numbers_append(const struct mpi_call *c, const char *text)
{
	const char *sep = "(";

	for (uint32_t i = 0; i < c->parts.nargs; i++) {
		const struct sig_arg *arg = &c->fn->sig.arg[i];

		if (arg->dir != SIG_VALUE || arg->kind != SIG_KIND_NUM ||
		    !strcmp(arg->role, "order"))
			continue;
		text = arena_printf(c->arena, "%s%s%lld", text, sep,
				    (long long)mpi_call_typed(c, i));
		sep = ", ";
	}
	return *sep == ',' ? arena_printf(c->arena, "%s)", text) : text;
}

const char *mpi_call_type_text(const struct mpi_call *c, uint64_t handle)
{
	return mpi_process_type_text(c->process, handle) ?:
		       arena_printf(c->arena, "0x%llx", (unsigned long long)handle);
}

/* "vector(4, 2, 8) of MPI_INT" */
static char *newtype_text(const struct mpi_call *c)
{
	const char *base = c->fn->base, *text;
	int64_t old;

	if (!strncmp(base, "Type_", 5))
		base += 5;
	if (!strncmp(base, "create_", 7))
		base += 7;
	text = numbers_append(c, base);
	if (mpi_call_value(c, ROLE_oldtype, &old))
		text = arena_printf(c->arena, "%s of %.*s", text, OLDTYPE_MAX,
				    mpi_call_type_text(c, old));
	return xasprintf("%.*s", TEXT_MAX, text);
}

static void learn_newtype(struct mpi_call *c)
{
	int64_t handle;

	if (!mpi_call_first(c, ROLE_newtype, &handle) || mpi_process_name(c->process, handle))
		return;
	mpi_process_type_set(c->process, handle, newtype_bytes(c), newtype_text(c));
}

/* MPI_Type_size told: keep the text, if there is one. */
static void learn_type_size(struct mpi_call *c)
{
	const char *text;
	int64_t handle, bytes;

	if (!mpi_call_value(c, ROLE_dtype, &handle) || !mpi_call_first(c, ROLE_size, &bytes) ||
	    bytes < 0 || mpi_process_type_bytes(c->process, handle) == bytes ||
	    mpi_process_name(c->process, handle))
		return;
	text = mpi_process_type_text(c->process, handle);
	mpi_process_type_set(c->process, handle, bytes, text ? xstrdup(text) : NULL);
}

int64_t mpi_call_type_bytes(const struct mpi_call *c, enum mpi_role role)
{
	int arg = c->fn->at[role];
	int64_t handle, bytes;

	if (!mpi_call_value(c, role, &handle) || (uint64_t)handle == c->process->type_null)
		return -1;
	if (c->field[arg].type == POV_FIELD_TYPE_SIZE) {
		memcpy(&bytes, c->field[arg].data, sizeof(bytes));
		return bytes >= 0 ? bytes : -1;
	}
	return mpi_process_type_bytes(c->process, handle);
}

void mpi_learn(struct mpi_call *c)
{
	mpi_learn_comm(c);
	if (!c->ok)
		return;
	mpi_learn_group(c);
	if (c->fn->effect == EFFECT_TYPE_NEW)
		learn_newtype(c);
	else if (c->fn->effect == EFFECT_TYPE_SIZE)
		learn_type_size(c);
}

void mpi_forget(struct mpi_call *c)
{
	int64_t handle;

	if (!c->ok)
		return;
	if (c->fn->effect == EFFECT_TYPE_FREE && mpi_call_first(c, ROLE_dtype, &handle))
		mpi_process_type_forget(c->process, handle);
	if (c->fn->effect == EFFECT_COMM_FREE && mpi_call_first(c, ROLE_comm, &handle))
		mpi_process_comm_forget(c->process, handle);
	if (c->fn->effect == EFFECT_WIN_FREE && mpi_call_first(c, ROLE_win, &handle))
		mpi_process_origin_forget(c->process, handle, c->begin_ns);
}
