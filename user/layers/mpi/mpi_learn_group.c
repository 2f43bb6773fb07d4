/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Learns about groups of processes and about windows, whose targets are ranks of the group from
 * which they were made.
 */
#include "layers/mpi/mpi_comm_internal.h"
#include "layers/mpi/mpi_decode.h"

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
		.begin_ns = c->begin_ns,
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
 * Learns that a window was made of a communicator, or that a probe took a message out of its
 * matching.
 */
static void learn_origin(struct mpi_call *c, enum mpi_role role)
{
	const struct mpi_flavour_info *fl = c->process->flavour;
	struct mpi_known_comm *comm = mpi_call_comm(c);
	struct mpi_origin o = {.probed_ns = c->begin_ns,
			       .since_ns = c->parts.rec->hdr.ts_ns,
			       .source = PEER_ANY,
			       .tag = TAG_ANY};
	struct mpi_status st;
	int64_t handle, v;

	if (!mpi_call_first(c, role, &handle))
		return;
	o.comm = mpi_communicator_ref(comm ? comm->whole : NULL);
	o.number = comm && role == ROLE_win ? ++comm->windows : 0;
	if (mpi_call_value(c, ROLE_source, &v))
		mpi_peer_map(fl, v, &o.source);
	if (mpi_call_value(c, ROLE_tag, &v))
		mpi_tag_map(fl, v, &o.tag);
	if (mpi_call_status(c, 0, &st)) {
		mpi_peer_map(fl, st.source, &o.source);
		mpi_tag_map(fl, st.tag, &o.tag);
	}
	mpi_process_origin_set(c->process, handle, o);
}

/*
 * Freeing a group is ignored. Libraries give out one handle several times, and free the group with
 * the last of its users. A group is forgotten when its handle stands for another one.
 */
void mpi_learn_group(struct mpi_call *c)
{
	enum mpi_role role = c->fn->at[ROLE_newgroup] >= 0 ? ROLE_newgroup : ROLE_group;
	int64_t handle;

	if (mpi_effect_makes_group(c->fn->effect) && mpi_call_first(c, role, &handle))
		mpi_process_group_set(c->process, handle, made_by_call(c));
	if (c->fn->effect == EFFECT_WIN_NEW)
		learn_origin(c, ROLE_win);
	if (c->fn->effect == EFFECT_MATCHED)
		learn_origin(c, ROLE_message);
}
