/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The call's effect on a window; what a call that has not returned waits for, as far as its
 * arguments show.
 */
#include "layers/mpi/mpi_decode.h"

/* ---- windows and files ---- */

/*
 * Effects of a call on a window of one-sided communication. Each process has a handle of its own
 * for a window. Common to all are its communicator and the number of windows and files made of that
 * before, as MPI demands one order of these calls. Collective calls on a file are told as calls on
 * a window that are made together.
 */

static const struct mpi_origin *window_of(const struct mpi_call *c)
{
	bool makes = c->fn->effect == EFFECT_WIN_NEW || c->fn->effect == EFFECT_FILE_NEW;
	enum mpi_role role = c->fn->at[ROLE_file] >= 0 ? ROLE_file : ROLE_win;
	int64_t handle;

	if (!mpi_call_value(c, role, &handle) && !mpi_call_first(c, role, &handle))
		return NULL;
	return mpi_process_origin(c->process, mpi_origin_key(role, handle),
				  makes ? UINT64_MAX : c->parts.begin_ns);
}

/* Ranks in the window of a group's members. */
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

/* The call's effect on a window, even if it has not returned; NULL: it concerns no window. */
static const struct call_window *mpi_window_of(struct mpi_call *c, struct call_view *out)
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

/* ---- calls that have not returned ---- */

/*
 * Adds the requests that a call waits for and whose start was seen. Returns the communicator of the
 * first one, or NULL.
 */
static struct mpi_communicator *requests_pend(struct mpi_call *c, struct call_view *out)
{
	struct mpi_communicator *comm = NULL;
	int arg = c->fn->at[ROLE_req];
	struct call_request *r;
	uint32_t n;

	if (c->fn->request != REQUEST_COMPLETE)
		return NULL;
	n = mpi_call_kept(c, (uint32_t)arg);
	out->roles.requests = r = arena_alloc(c->arena, n * sizeof(*r));
	for (uint32_t i = 0; i < n; i++) {
		uint64_t handle = mpi_call_elem(c, (uint32_t)arg, i);
		struct mpi_request *known;

		if (mpi_process_request_is_shared(c->process, handle))
			continue;
		known = mpi_process_request(c->process, handle, c->parts.begin_ns);
		if (known && !known->active)
			continue;
		r[out->roles.nrequests++] = (struct call_request){
			.handle = handle,
			.event = REQUEST_PENDING,
			.op = known ? &known->op : NULL,
			.bytes = BYTES_UNKNOWN,
			.source_world = -1,
			.source_job = -1,
		};
		if (!comm && known)
			comm = known->comm;
	}
	return comm;
}

/* Sets the communicator's members, unless one is unknown. */
static void members_find(struct mpi_call *c, struct mpi_communicator *comm, struct call_open *open)
{
	struct mpi_group *group = mpi_communicator_group(comm, false);
	int32_t size = mpi_group_size(group);
	struct call_member *member;
	struct mpi_member who;

	if (size <= 0 || mpi_communicator_group(comm, true))
		return;
	member = arena_alloc(c->arena, (size_t)size * sizeof(*member));
	for (int32_t i = 0; i < size; i++) {
		if (mpi_group_member(group, i, &who) != PEER_KNOWN)
			return;
		member[i] = (struct call_member){.job = who.job, .rank = who.rank};
	}
	open->member = member;
	open->nmembers = (uint32_t)size;
}

void mpi_open(struct mpi_call *c, struct call_view *out)
{
	struct mpi_communicator *comm, *waited;
	struct call_open *open;

	if (!(c->parts.rec->hdr.flags & POV_CALL_OPEN))
		return;
	open = arena_alloc(c->arena, sizeof(*open));
	*open = (struct call_open){.window = mpi_window_of(c, out)};
	out->roles.open = open;
	comm = mpi_call_ranks(c);
	waited = requests_pend(c, out);
	members_find(c, comm ?: waited, open);
}
