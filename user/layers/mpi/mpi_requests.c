/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Effects of a call on requests. Handles are those at entry, as completion overwrites them. They
 * refer to operations that were started before the call began: another thread may have got the same
 * handle since. Two kinds of requests belong to no operation and are left out: null requests, and
 * those that libraries share among operations that complete at once. A status is meaningful only
 * for receives and file accesses. For others, libraries leave old contents in it, so it is neither
 * shown nor passed on.
 */
#include "layers/mpi/mpi_decode.h"

struct done {
	struct mpi_call *c;
	struct call_view *out;
	struct call_request *reqs; /* room for all requests that can complete */
	int64_t *status_at;	   /* positions of those with a meaningful status */
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
