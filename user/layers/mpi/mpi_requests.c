/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Effects of a call on requests and windows, and what a call that has not returned waits for.
 *
 * Handles of requests are those at entry, because completion overwrites them. They refer to
 * operations that were started before the call began: another thread may have got the same handle
 * since. Two kinds of requests belong to no operation and are left out: null requests, and those
 * that libraries share among operations that complete at once. A status is meaningful only for
 * receives and file accesses. For others, libraries leave old contents in it, so it is neither
 * shown nor passed on.
 */
#include "layers/mpi/mpi_decode.h"

struct done {
	struct mpi_call *c;
	struct call_view *out;
	struct call_request *reqs; /* room for all requests that can complete */
	int64_t *status_at;	   /* positions of requests with a meaningful status */
	uint32_t nstatus;
	bool per_status; /* errors are reported in the statuses */
};

static struct call_request *requests_room(struct mpi_call *c, struct call_view *out, uint32_t n)
{
	struct call_request *r = arena_alloc(c->arena, (n ? n : 1) * sizeof(*r));

	out->roles.requests = r;
	out->roles.nrequests = 0;
	return r;
}

static struct call_request *request_add(struct call_view *out, struct call_request *reqs,
					uint64_t handle, enum request_event event)
{
	struct call_request *r = &reqs[out->roles.nrequests++];

	*r = (struct call_request){.handle = handle,
				   .event = event,
				   .bytes = BYTES_UNKNOWN,
				   .source_world = -1,
				   .source_job = -1};
	return r;
}

static int64_t both_ways(const struct call_roles *roles)
{
	int64_t bytes = plus(roles->send_bytes, roles->recv_bytes);

	return bytes >= 0 ? bytes : BYTES_UNKNOWN;
}

static void request_made(struct mpi_call *c, struct call_view *out)
{
	uint8_t family = c->fn->family;
	struct mpi_request known = {
		.op = {.func = c->parts.info,
		       .begin_ns = c->parts.begin_ns,
		       .posted_ns = c->parts.rec->hdr.ts_ns,
		       .tid = c->parts.rec->hdr.tid,
		       .roles = out->roles},
		.receives = family == FAMILY_RECV || family == FAMILY_SENDRECV ||
			    family == FAMILY_SENDRECV_REPLACE,
		.moves_file = family == FAMILY_READ || family == FAMILY_WRITE,
		.persistent = c->fn->request == REQUEST_INIT,
		.active = c->fn->request == REQUEST_START,
		.since_ns = c->parts.rec->hdr.ts_ns,
	};
	struct call_request *r;
	int64_t handle;

	if (!c->ok || !mpi_call_first(c, ROLE_req, &handle) ||
	    mpi_process_request_is_shared(c->process, handle))
		return;
	known.op.roles.window = NULL;
	known.comm = mpi_communicator_ref(mpi_call_ranks(c));
	r = request_add(out, requests_room(c, out, 1), handle, c->fn->request);
	if (out->roles.sends || out->roles.receives)
		r->bytes = both_ways(&out->roles);
	r->in_flight_bytes = mpi_request_in_flight(&known);
	r->in_flight_bytes -= mpi_process_request_add(c->process, handle, &known);
}

/* A persistent request is started; its operation begins with this call. */
static void request_restart(const struct mpi_call *c, struct call_request *r,
			    struct mpi_request *known, uint32_t place)
{
	known->op.place = place;
	known->op.begin_ns = c->parts.begin_ns;
	known->op.posted_ns = known->since_ns = c->parts.rec->hdr.ts_ns;
	known->op.tid = c->parts.rec->hdr.tid;
	r->in_flight_bytes = -mpi_request_in_flight(known);
	known->active = true;
	r->in_flight_bytes += mpi_request_in_flight(known);
	r->op = &known->op;
}

static void request_end(const struct mpi_call *c, struct call_request *r, struct mpi_request *known,
			bool forget)
{
	r->in_flight_bytes = -mpi_request_in_flight(known);
	r->op = &known->op;
	known->active = false;
	if (forget)
		mpi_process_request_forget(c->process, r->handle, c->parts.begin_ns);
}

/* Start, Startall, Request_free, Cancel */
static void requests_each(struct mpi_call *c, struct call_view *out)
{
	int arg = c->fn->at[ROLE_req];
	uint32_t n = mpi_call_kept(c, arg);
	struct call_request *reqs, *r;
	struct mpi_request *known;

	if (!c->ok || !n)
		return;
	reqs = requests_room(c, out, n);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t handle = mpi_call_elem(c, arg, i);

		if (mpi_process_request_is_shared(c->process, handle))
			continue;
		r = request_add(out, reqs, handle, c->fn->request);
		known = mpi_process_request(c->process, handle, c->parts.begin_ns);
		if (known && c->fn->request == REQUEST_FREE)
			request_end(c, r, known, true);
		else if (known && c->fn->request == REQUEST_CANCEL)
			r->op = &known->op;
		else if (known)
			request_restart(c, r, known, i);
	}
}

/*
 * Request i of the array has completed, if there is one; its status is number st, if statuses are
 * stored.
 */
static void request_complete(struct done *d, int64_t i, uint32_t st)
{
	struct mpi_call *c = d->c;
	struct mpi_request *known;
	struct call_request *r;
	struct mpi_status s;
	uint64_t handle;
	bool has_status;
	int arg = c->fn->at[ROLE_req];

	if (i < 0 || i >= mpi_call_kept(c, arg))
		return;
	handle = mpi_call_elem(c, arg, i);
	if (mpi_process_request_is_shared(c->process, handle))
		return;
	has_status = mpi_call_status(c, st, &s);
	if (d->per_status && has_status && s.error == c->process->flavour->err_pending)
		return;
	r = request_add(d->out, d->reqs, handle, REQUEST_COMPLETE);
	r->error = d->per_status && has_status ? s.error : (int32_t)c->parts.rec->ret;
	known = mpi_process_request(c->process, handle, c->parts.begin_ns);
	if (has_status && known && (known->receives || known->moves_file) && !r->error) {
		r->has_status = true;
		r->source = PEER_NULL;
		r->tag = TAG_ANY;
		r->bytes = s.bytes >= 0 && !s.cancelled ? s.bytes : BYTES_UNKNOWN;
		if (known->receives && !s.cancelled) {
			mpi_peer_map(c->process->flavour, s.source, &r->source);
			mpi_tag_map(c->process->flavour, s.tag, &r->tag);
			mpi_world_rank(known->comm, r->source, &r->source_world, &r->source_job,
				       &r->source_why);
			d->status_at[d->nstatus++] = i << 32 | st;
		}
	}
	if (known)
		request_end(c, r, known, !known->persistent);
}

static void complete_some(struct done *d)
{
	int arg = d->c->fn->at[ROLE_indices];
	uint32_t n = arg < 0 ? 0 : mpi_call_kept(d->c, arg);

	for (uint32_t i = 0;
	     i < n && d->out->roles.nrequests < mpi_call_kept(d->c, d->c->fn->at[ROLE_req]); i++)
		request_complete(d, mpi_call_elem(d->c, arg, i), i);
}

static void complete_any(struct done *d)
{
	int64_t idx;

	if (mpi_call_first(d->c, ROLE_index, &idx))
		request_complete(d, idx, 0);
}

static void complete_all(struct done *d)
{
	uint32_t n = mpi_call_kept(d->c, d->c->fn->at[ROLE_req]);

	for (uint32_t i = 0; i < n; i++)
		request_complete(d, i, i);
}

/*
 * For several statuses: shows the positions of their requests in req, and source, tag and bytes of
 * each.
 */
static void statuses_show(struct done *d)
{
	static const char *const names[] = {"status_req", "status_source", "status_tag",
					    "status_bytes"};
	int64_t *column[4];
	struct mpi_status s;
	uint32_t ncol = 4;

	for (uint32_t k = 0; k < 4; k++)
		column[k] = arena_alloc(d->c->arena, d->nstatus * sizeof(int64_t));
	for (uint32_t i = 0; i < d->nstatus; i++) {
		mpi_call_status(d->c, (uint32_t)d->status_at[i], &s);
		column[0][i] = d->status_at[i] >> 32;
		column[1][i] = s.source;
		column[2][i] = s.tag;
		column[3][i] = s.bytes;
		if (s.bytes < 0)
			ncol = 3; /* the flavour has no bytes */
	}
	for (uint32_t k = 0; k < ncol; k++) {
		struct call_value *v = call_view_add(d->out, names[k], VALUE_INTS);

		v->n = v->cnt = d->nstatus;
		v->ints = column[k];
	}
}

static void status_values(struct done *d)
{
	int arg = d->c->fn->at[ROLE_req];
	struct mpi_status s;

	if (!d->nstatus || d->out->roles_only)
		return;
	if (d->c->fn->sig.arg[arg].len != POV_LEN_ONE && d->c->fn->at[ROLE_index] < 0) {
		statuses_show(d);
	} else if (mpi_call_status(d->c, 0, &s)) {
		mpi_status_show(d->c, &s, true, d->out);
	}
}

static void requests_complete(struct mpi_call *c, struct call_view *out)
{
	const struct mpi_flavour_info *fl = c->process->flavour;
	uint32_t n = mpi_call_kept(c, c->fn->at[ROLE_req]);
	struct done d = {.c = c, .out = out};
	int64_t flag;

	if (!c->parts.returned || !n)
		return;
	if (c->fn->at[ROLE_flag] >= 0 && (!mpi_call_first(c, ROLE_flag, &flag) || !flag))
		return;
	d.per_status = (uint32_t)c->parts.rec->ret &&
		       ((uint32_t)c->parts.rec->ret & fl->error_mask) ==
			       (uint32_t)fl->err_in_status;
	/* an error of the call itself, not of one request: it is unknown what completed */
	if ((uint32_t)c->parts.rec->ret && !d.per_status && c->fn->at[ROLE_index] < 0 &&
	    c->fn->sig.arg[c->fn->at[ROLE_req]].len != POV_LEN_ONE)
		return;
	d.reqs = requests_room(c, out, n);
	d.status_at = arena_alloc(c->arena, n * sizeof(*d.status_at));
	if (c->fn->at[ROLE_indices] >= 0)
		complete_some(&d);
	else if (c->fn->at[ROLE_index] >= 0)
		complete_any(&d);
	else
		complete_all(&d);
	status_values(&d);
}

void mpi_requests(struct mpi_call *c, struct call_view *out)
{
	switch (c->fn->request) {
	case REQUEST_START:
	case REQUEST_INIT:
		request_made(c, out);
		break;
	case REQUEST_RESTART:
	case REQUEST_FREE:
	case REQUEST_CANCEL:
		requests_each(c, out);
		break;
	case REQUEST_COMPLETE:
		requests_complete(c, out);
		break;
	}
}

/* ---- windows and files ---- */

/*
 * Effects of a call on a window of one-sided communication. Each process has its own handle for a
 * window. All processes agree on its communicator, and on the number of windows and files made from
 * that communicator before, because MPI demands one order of these calls. Collective calls on a
 * file are reported like calls on a window that are made together.
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
