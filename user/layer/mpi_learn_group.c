/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What calls teach about groups of processes and about windows, whose targets are ranks of the group they were made of.
 */
#include "layer/mpi_decode.h"

static struct mpi_group *arg(struct mpi_call *c, enum mpi_role role)
{
	int64_t handle;

	return mpi_call_value(c, role, &handle) ? mpi_process_group(c->process, handle) : NULL;
}

static struct mpi_group *of_comm(struct mpi_call *c, bool remote)
{
	struct mpi_comm *comm = mpi_call_comm(c);

	return mpi_group_ref(mpi_communicator_group(comm ? comm->whole : NULL, remote));
}

static struct mpi_group *of_window(struct mpi_call *c)
{
	int64_t win;

	if (!mpi_call_value(c, ROLE_win, &win))
		return NULL;
	return mpi_group_ref(mpi_communicator_group(mpi_process_origin(c->process, win), false));
}

static struct mpi_group *of_ranks(struct mpi_call *c, bool exclude)
{
	int ranks = c->fn->at[ROLE_ranks];
	uint32_t n = ranks >= 0 ? mpi_call_kept(c, ranks) : 0;
	int32_t *list = arena_alloc(c->arena, (n + 1) * sizeof(*list));
	int64_t asked;

	if (ranks < 0 || !mpi_call_value(c, ROLE_n, &asked) || asked != n)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		list[i] = (int32_t)mpi_call_elem(c, ranks, i);
	return exclude ? mpi_group_excl(arg(c, ROLE_group), list, n) :
			 mpi_group_incl(arg(c, ROLE_group), list, n);
}

static struct mpi_group *of_ranges(struct mpi_call *c, bool exclude)
{
	int ranges = c->fn->at[ROLE_ranges];
	uint32_t n = ranges >= 0 ? mpi_call_kept(c, ranges) : 0;
	int32_t *list = arena_alloc(c->arena, (3 * n + 1) * sizeof(*list));
	int64_t asked;

	if (ranges < 0 || !mpi_call_value(c, ROLE_n, &asked) || asked != n)
		return NULL;
	for (uint32_t i = 0; i < 3 * n; i++)
		list[i] = mpi_call_range(c, ranges, i);
	return mpi_group_range(arg(c, ROLE_group), list, n, exclude);
}

/* The group that the call made: a reference, or NULL if that is not known. */
static struct mpi_group *made_by_call(struct mpi_call *c)
{
	switch (c->fn->effect) {
	case EFFECT_COMM_GROUP:
		return of_comm(c, false);
	case EFFECT_REMOTE_GROUP:
		return of_comm(c, true);
	case EFFECT_WIN_GROUP:
		return of_window(c);
	case EFFECT_GROUP_INCL:
	case EFFECT_GROUP_EXCL:
		return of_ranks(c, c->fn->effect == EFFECT_GROUP_EXCL);
	case EFFECT_GROUP_RANGE_INCL:
	case EFFECT_GROUP_RANGE_EXCL:
		return of_ranges(c, c->fn->effect == EFFECT_GROUP_RANGE_EXCL);
	case EFFECT_GROUP_UNION:
		return mpi_group_union(arg(c, ROLE_group1), arg(c, ROLE_group2));
	case EFFECT_GROUP_INTERSECTION:
		return mpi_group_intersection(arg(c, ROLE_group1), arg(c, ROLE_group2));
	case EFFECT_GROUP_DIFFERENCE:
		return mpi_group_difference(arg(c, ROLE_group1), arg(c, ROLE_group2));
	default:
		return NULL;
	}
}

/* A window of a communicator, or a message that a probe has taken off it. */
static void learn_origin(struct mpi_call *c, enum mpi_role role)
{
	struct mpi_comm *comm = mpi_call_comm(c);
	int64_t handle;

	if (mpi_call_first(c, role, &handle))
		mpi_process_origin_set(c->process, handle,
				       mpi_communicator_ref(comm ? comm->whole : NULL));
}

/*
 * That a group is freed means nothing: libraries hand out one handle several times, and free it when the last one who got it
 * does. It is forgotten when it stands for another.
 */
void mpi_learn_group(struct mpi_call *c)
{
	enum mpi_role role = c->fn->at[ROLE_newgroup] >= 0 ? ROLE_newgroup : ROLE_group;
	int64_t handle;

	switch (c->fn->effect) {
	case EFFECT_COMM_GROUP:
	case EFFECT_REMOTE_GROUP:
	case EFFECT_WIN_GROUP:
	case EFFECT_GROUP_INCL:
	case EFFECT_GROUP_EXCL:
	case EFFECT_GROUP_RANGE_INCL:
	case EFFECT_GROUP_RANGE_EXCL:
	case EFFECT_GROUP_UNION:
	case EFFECT_GROUP_INTERSECTION:
	case EFFECT_GROUP_DIFFERENCE:
	case EFFECT_GROUP_OTHER:
		if (mpi_call_first(c, role, &handle))
			mpi_process_group_set(c->process, handle, made_by_call(c));
		break;
	case EFFECT_WIN_NEW:
		learn_origin(c, ROLE_win);
		break;
	case EFFECT_MATCHED:
		learn_origin(c, ROLE_message);
		break;
	}
}
