/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Learns from calls for later ones: the sizes of derived datatypes from their constructors, groups
 * of processes, and windows (mpi_learn_comm.c: communicators). A size that cannot be computed
 * exactly is not learned.
 */
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "layers/mpi/mpi_comm_internal.h"
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

/* Number of elements of oldtype in the new type, or -1. */
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

/* Appends the numbers in a constructor's arguments, "(4, 2, 8)", to its name. */
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

/* MPI_Type_size reported a size: stores it and keeps the text, if there is one. */
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

/* Reads a datatype's size from the record's field for an argument. */
static bool type_bytes_of(const struct mpi_call *c, int arg, int64_t *bytes)
{
	if (arg < 0 || c->field[arg].type != POV_FIELD_TYPE_SIZE)
		return false;
	memcpy(bytes, c->field[arg].data, sizeof(*bytes));
	return *bytes >= 0;
}

/* As above, from another argument that is the same datatype. */
static bool type_bytes_of_same(const struct mpi_call *c, int64_t handle, int64_t *bytes)
{
	static const enum mpi_role roles[] = {ROLE_sdtype, ROLE_rdtype, ROLE_result_dtype};
	int64_t other;

	return table_any(sizeof(roles) / sizeof(*roles), i,
			 mpi_call_value(c, roles[i], &other) && other == handle &&
				 type_bytes_of(c, c->fn->at[roles[i]], bytes));
}

int64_t mpi_call_type_bytes(const struct mpi_call *c, enum mpi_role role)
{
	int64_t handle, bytes;

	if (!mpi_call_value(c, role, &handle) || (uint64_t)handle == c->process->type_null)
		return -1;
	if (type_bytes_of(c, c->fn->at[role], &bytes) || type_bytes_of_same(c, handle, &bytes))
		return bytes;
	return mpi_process_type_bytes(c->process, handle);
}

/* ---- groups, and windows, whose targets are ranks of the group they were made from ---- */

struct mpi_group *mpi_call_group(const struct mpi_call *c, enum mpi_role role)
{
	int64_t handle;

	return mpi_call_value(c, role, &handle) ? mpi_process_group(c->process, handle) : NULL;
}

struct mpi_communicator *mpi_call_made_of_group(struct mpi_call *c)
{
	struct mpi_comms *all = c->process->trace_comms;
	struct mpi_group_call call = {
		.parent = mpi_call_ranks(c),
		.group = mpi_call_group(c, ROLE_group),
		.who = mpi_process_self(c->process),
		.begin_ns = c->parts.begin_ns,
		.end_ns = c->parts.rec->hdr.ts_ns,
		.one_clock = c->process->one_clock,
	};
	int64_t tag;

	if (mpi_call_value(c, ROLE_tag, &tag))
		call.tag = (int32_t)tag;
	return mpi_group_makings_join(mpi_comms_of_groups(all), all, &call);
}

/* The group of the call's communicator or window. */
static struct mpi_group *of_ranks(struct mpi_call *c, bool remote)
{
	return mpi_group_ref(mpi_communicator_group(mpi_call_ranks(c), remote));
}

/* A subset of a group by ranks or ranges: these members, or all others if exclude. */
static struct mpi_group *of_some(struct mpi_call *c, bool exclude)
{
	enum mpi_role role = c->fn->at[ROLE_ranges] >= 0 ? ROLE_ranges : ROLE_ranks;
	struct mpi_group *group = mpi_call_group(c, ROLE_group);
	int arg = c->fn->at[role];
	bool ranges = arg >= 0 && c->fn->sig.arg[arg].type == SIG_RANGE;
	uint32_t n = arg >= 0 ? mpi_call_kept(c, arg) : 0, cnt = ranges ? 3 * n : n;
	int32_t *list = arena_alloc(c->arena, (cnt + 1) * sizeof(*list));
	int64_t asked;

	if (arg < 0 || !mpi_call_value(c, ROLE_n, &asked) || asked != n)
		return NULL;
	for (uint32_t i = 0; i < cnt; i++)
		list[i] = (int32_t)mpi_call_elem(c, arg, i);
	if (ranges)
		return mpi_group_of_ranges(group, list, n, exclude);
	return mpi_group_of_ranks(group, list, n, exclude);
}

/* The group that the call made: a reference, or NULL if unknown. */
static struct mpi_group *made_by_call(struct mpi_call *c)
{
	struct mpi_group *first = mpi_call_group(c, ROLE_group1);
	struct mpi_group *second = mpi_call_group(c, ROLE_group2);

	switch (c->fn->effect) {
	case EFFECT_COMM_GROUP:
		return of_ranks(c, false);
	case EFFECT_REMOTE_GROUP:
		return of_ranks(c, true);
	case EFFECT_GROUP_INCL:
	case EFFECT_GROUP_EXCL:
		return of_some(c, c->fn->effect == EFFECT_GROUP_EXCL);
	case EFFECT_GROUP_UNION:
		return mpi_group_of_two(MPI_GROUP_UNION, first, second);
	case EFFECT_GROUP_INTERSECTION:
		return mpi_group_of_two(MPI_GROUP_INTERSECTION, first, second);
	case EFFECT_GROUP_DIFFERENCE:
		return mpi_group_of_two(MPI_GROUP_DIFFERENCE, first, second);
	default:
		return NULL;
	}
}

/*
 * Learns that a window or a file was made of a communicator, or that a probe took a message out of
 * its matching.
 */
static void learn_origin(struct mpi_call *c, enum mpi_role role)
{
	const struct mpi_flavour_info *fl = c->process->flavour;
	struct mpi_known_comm *comm = mpi_call_comm(c);
	struct mpi_origin o = {.probed_ns = c->parts.begin_ns,
			       .since_ns = c->parts.rec->hdr.ts_ns,
			       .source = PEER_ANY,
			       .tag = TAG_ANY};
	struct mpi_status st;
	int64_t handle, v;

	if (!mpi_call_first(c, role, &handle))
		return;
	o.comm = mpi_communicator_ref(comm ? comm->whole : NULL);
	o.number = comm && role != ROLE_message ? ++comm->windows : 0;
	if (mpi_call_value(c, ROLE_source, &v))
		mpi_peer_map(fl, v, &o.source);
	if (mpi_call_value(c, ROLE_tag, &v))
		mpi_tag_map(fl, v, &o.tag);
	if (mpi_call_status(c, 0, &st)) {
		mpi_peer_map(fl, st.source, &o.source);
		mpi_tag_map(fl, st.tag, &o.tag);
	}
	mpi_process_origin_set(c->process, mpi_origin_key(role, handle), o);
}

/*
 * Freeing a group is ignored. Libraries give out one handle several times, and free the group with
 * the last of its users. A group is forgotten when its handle stands for another one.
 */
static void learn_group(struct mpi_call *c)
{
	enum mpi_role role = c->fn->at[ROLE_newgroup] >= 0 ? ROLE_newgroup : ROLE_group;
	int64_t handle;

	if (mpi_effect_makes_group(c->fn->effect) && mpi_call_first(c, role, &handle))
		mpi_process_group_set(c->process, handle, made_by_call(c));
	if (c->fn->effect == EFFECT_WIN_NEW)
		learn_origin(c, ROLE_win);
	if (c->fn->effect == EFFECT_FILE_NEW)
		learn_origin(c, ROLE_file);
	if (c->fn->effect == EFFECT_MATCHED)
		learn_origin(c, ROLE_message);
}

/* ---- all that is learned, and forgotten ---- */

void mpi_learn(struct mpi_call *c)
{
	mpi_learn_comm(c);
	if (!c->ok)
		return;
	learn_group(c);
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
		mpi_process_origin_forget(c->process, handle, c->parts.begin_ns);
	if (c->fn->effect == EFFECT_FILE_FREE && mpi_call_first(c, ROLE_file, &handle))
		mpi_process_origin_forget(c->process, mpi_origin_key(ROLE_file, handle),
					  c->parts.begin_ns);
}
