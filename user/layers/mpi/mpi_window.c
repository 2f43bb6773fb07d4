/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a call means for a window of one-sided communication. Each process knows a window by a handle of its own; all know it by its
 * communicator and by how many windows were made of that before, as MPI demands one order of these calls.
 */
#include "layers/mpi/mpi_decode.h"

static const struct mpi_origin *window_of(const struct mpi_call *c)
{
	uint64_t since_ns = c->fn->effect == EFFECT_WIN_NEW ? UINT64_MAX : c->begin_ns;
	int64_t handle;

	if (!mpi_call_value(c, ROLE_win, &handle) && !mpi_call_first(c, ROLE_win, &handle))
		return NULL;
	return mpi_process_origin(c->process, handle, since_ns);
}

/* Ranks in the window of those whom a group names. */
static void group_find(struct mpi_call *c, struct mpi_group *members, struct call_window *w)
{
	struct mpi_group *named = mpi_call_group(c, ROLE_group);
	int32_t size = mpi_group_size(named), *rank;
	struct mpi_member who;

	if (size < 0)
		return;
	rank = arena_alloc(c->arena, ((size_t)size + 1) * sizeof(*rank));
	for (int32_t i = 0; i < size; i++) {
		if (mpi_group_member(named, i, &who) != PEER_KNOWN)
			return;
		rank[i] = mpi_group_rank(members, who);
		if (rank[i] < 0)
			return;
	}
	w->group = rank;
	w->ngroup = (uint32_t)size;
}

static void target_find(const struct mpi_call *c, struct call_window *w)
{
	int64_t v;

	w->target = PEER_ANY;
	if (mpi_call_value(c, ROLE_rank, &v) || mpi_call_value(c, ROLE_target, &v))
		w->target = v >= 0 ? (int32_t)v : PEER_NULL;
	w->exclusive = mpi_call_value(c, ROLE_lock_type, &v) &&
		       v == c->process->flavour->lock_exclusive;
}

const struct call_window *mpi_window_of(struct mpi_call *c, struct call_view *out)
{
	const struct mpi_origin *known;
	struct call_window *w;
	uint8_t why;

	if (!c->fn->window)
		return NULL;
	w = arena_alloc(c->arena, sizeof(*w));
	*w = (struct call_window){.event = c->fn->window,
				  .rank = -1,
				  .target = PEER_NULL,
				  .target_world = -1,
				  .target_job = -1};
	known = window_of(c);
	if (known && known->comm) {
		struct mpi_group *members = mpi_communicator_group(known->comm, false);

		w->number = known->number;
		out->roles.comm_id = mpi_communicator_id(known->comm);
		out->roles.comm_size = out->roles.comm_all = mpi_group_size(members);
		if (w->event == WIN_POST || w->event == WIN_START || w->event == WIN_LOCK)
			w->rank = mpi_group_rank(members, mpi_process_self(c->process));
		group_find(c, members, w);
	}
	if (w->event < WIN_LOCK)
		return w;
	target_find(c, w);
	if (known)
		mpi_world_rank(known->comm, w->target, &w->target_world, &w->target_job, &why);
	return w;
}

void mpi_window(struct mpi_call *c, struct call_view *out)
{
	if (c->ok && (!(c->fn->attrs.flags & FUNC_POLL) || out->roles.poll_found))
		out->roles.window = mpi_window_of(c, out);
}
