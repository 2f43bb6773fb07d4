/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a call moved, and with whom. Bytes are those that pass through this rank's own buffers,
 * including its part to itself. The convention for each family is described beside its computation.
 * Unknown values stay unknown: a size that no call revealed, a communicator whose size or rank was
 * not seen.
 */
#include "layers/mpi/mpi_decode.h"

struct flow {
	struct mpi_known_comm *comm; /* the call's communicator, or NULL */
	int64_t send, recv;	     /* bytes, -1 unknown */
	bool sends, receives;
	bool two_buffers; /* send and receive buffer have sizes of their own */
};

enum root_state { ROOT_UNKNOWN, ROOT_NOT_ME, ROOT_ME, ROOT_NOBODY };

/* In an intercommunicator, the root is the only member of its group that takes part. */
struct root {
	enum root_state state;
	bool inter;
};

/* Bytes of a buffer: n × count × size, or Σ counts × size if there is an array of counts. */
static int64_t buffer_bytes(const struct mpi_call *c, enum mpi_role count, enum mpi_role dtype,
			    int64_t n)
{
	int arg = c->fn->at[count];
	int64_t v;

	if (arg < 0 || c->fn->at[dtype] < 0)
		return -1;
	switch (c->fn->sig.arg[arg].dir) {
	case SIG_VALUE:
		if (!mpi_call_value(c, count, &v))
			return -1;
		v = scaled(v, mpi_call_type_bytes(c, dtype));
		return v ? times(n, v) : 0;
	case SIG_SUM:
		return mpi_call_sum(c, count, &v) ? scaled(v, mpi_call_type_bytes(c, dtype)) : -1;
	case SIG_IN:
		return mpi_call_pairs_bytes(c, arg, c->fn->at[dtype]);
	default:
		return -1;
	}
}

static bool in_place(const struct mpi_call *c, enum mpi_role buf)
{
	int64_t p;

	return mpi_call_value(c, buf, &p) && (uint64_t)p == c->process->flavour->in_place;
}

static struct root root_find(struct mpi_call *c, struct mpi_known_comm *comm)
{
	const struct mpi_flavour_info *fl = c->process->flavour;
	struct root r = {ROOT_UNKNOWN, comm && comm->inter};
	int64_t root;

	if (!mpi_call_value(c, ROLE_root, &root))
		return r;
	if (root == fl->root || root == fl->proc_null)
		return (struct root){root == fl->root ? ROOT_ME : ROOT_NOBODY, true};
	if (r.inter)
		r.state = ROOT_NOT_ME; /* the root is in the other group */
	else if (comm && mpi_comm_rank(c, comm) >= 0)
		r.state = comm->rank == root ? ROOT_ME : ROOT_NOT_ME;
	else if (in_place(c, ROLE_sendbuf) || in_place(c, ROLE_recvbuf))
		r.state = ROOT_ME; /* in a rooted collective, only the root may pass it */
	return r;
}

/* The root sends count × size, the others receive it. */
static void flow_bcast(struct mpi_call *c, struct flow *f)
{
	struct root r = root_find(c, f->comm);
	int64_t bytes = buffer_bytes(c, ROLE_count, ROLE_dtype, 1);

	f->sends = r.state == ROOT_ME || r.state == ROOT_UNKNOWN;
	f->receives = r.state == ROOT_NOT_ME || r.state == ROOT_UNKNOWN;
	if (r.state != ROOT_UNKNOWN)
		f->send = f->recv = bytes;
}

/* True if this rank does the part of the members, as opposed to that of the root. */
static bool is_member(struct root r)
{
	return r.state != ROOT_NOBODY && !(r.state == ROOT_ME && r.inter);
}

/* True if this rank is or may be the root. */
static bool maybe_root(struct root r)
{
	return r.state == ROOT_ME || r.state == ROOT_UNKNOWN;
}

/* All send their buffers (the root does not if in place); the root receives all of them. */
static void flow_gather(struct mpi_call *c, struct flow *f)
{
	struct root r = root_find(c, f->comm);

	f->two_buffers = true;
	f->sends = is_member(r);
	f->receives = maybe_root(r);
	f->send = in_place(c, ROLE_sendbuf) ? 0 : buffer_bytes(c, ROLE_scount, ROLE_sdtype, 1);
	if (r.state == ROOT_ME)
		f->recv = buffer_bytes(c, ROLE_rcount, ROLE_rdtype, mpi_comm_peers(f->comm));
}

/* The reverse of flow_gather. */
static void flow_scatter(struct mpi_call *c, struct flow *f)
{
	struct root r = root_find(c, f->comm);

	f->two_buffers = true;
	f->receives = is_member(r);
	f->sends = maybe_root(r);
	f->recv = in_place(c, ROLE_recvbuf) ? 0 : buffer_bytes(c, ROLE_rcount, ROLE_rdtype, 1);
	if (r.state == ROOT_ME)
		f->send = buffer_bytes(c, ROLE_scount, ROLE_sdtype, mpi_comm_peers(f->comm));
}

/* All send count × size; the root receives a result of that size. */
static void flow_reduce(struct mpi_call *c, struct flow *f)
{
	struct root r = root_find(c, f->comm);

	f->sends = is_member(r);
	f->receives = maybe_root(r);
	f->send = buffer_bytes(c, ROLE_count, ROLE_dtype, 1);
	if (r.state != ROOT_UNKNOWN)
		f->recv = f->send;
}

/*
 * Allgather: sends its buffer once and receives those of all. Alltoall: one piece to and from each.
 * In place, the receive buffer's count gives the bytes sent. If there is an array of counts, this
 * rank's own count is unknown.
 */
static void flow_all_to_all(struct mpi_call *c, struct flow *f)
{
	bool gathers = c->fn->family == FAMILY_ALLGATHER, place = in_place(c, ROLE_sendbuf);
	int32_t n = mpi_comm_peers(f->comm);
	int counts = c->fn->at[ROLE_rcount];
	bool vector = counts >= 0 && c->fn->sig.arg[counts].dir != SIG_VALUE;

	f->sends = f->receives = f->two_buffers = true;
	f->recv = buffer_bytes(c, ROLE_rcount, ROLE_rdtype, n);
	if (!place)
		f->send = buffer_bytes(c, ROLE_scount, ROLE_sdtype, gathers ? 1 : n);
	else if (!gathers)
		f->send = f->recv;
	else if (!vector)
		f->send = buffer_bytes(c, ROLE_rcount, ROLE_rdtype, 1);
}

/*
 * As flow_all_to_all, among neighbours; a missing one (MPI_PROC_NULL) counts with its place in the
 * buffer.
 */
static void flow_neighbors(struct mpi_call *c, struct flow *f)
{
	bool gathers = c->fn->family == FAMILY_NEIGHBOR_ALLGATHER;
	int32_t out = f->comm ? f->comm->outdeg : -1, in = f->comm ? f->comm->indeg : -1;

	f->sends = f->receives = f->two_buffers = true;
	f->send = buffer_bytes(c, ROLE_scount, ROLE_sdtype, gathers ? 1 : out);
	f->recv = buffer_bytes(c, ROLE_rcount, ROLE_rdtype, in);
}

/* All send a whole vector; the result depends on the operation. */
static void flow_allreduce(struct mpi_call *c, struct flow *f)
{
	f->sends = f->receives = true;
	f->send = f->recv = buffer_bytes(c, ROLE_count, ROLE_dtype, 1);
}

/* Rank 0 receives nothing. */
static void flow_exscan(struct mpi_call *c, struct flow *f)
{
	f->sends = true;
	f->receives = !f->comm || f->comm->rank != 0;
	f->send = buffer_bytes(c, ROLE_count, ROLE_dtype, 1);
	if (f->comm && f->comm->rank > 0)
		f->recv = f->send;
}

/*
 * Σ counts × size. Which count is this rank's is unknown, except for _block, where all are equal.
 */
static void flow_reduce_scatter(struct mpi_call *c, struct flow *f)
{
	bool block = c->fn->family == FAMILY_REDUCE_SCATTER_BLOCK;

	f->sends = f->receives = f->two_buffers = true;
	f->send = buffer_bytes(c, ROLE_rcount, ROLE_dtype, block ? mpi_comm_peers(f->comm) : 1);
	if (block)
		f->recv = buffer_bytes(c, ROLE_rcount, ROLE_dtype, 1);
}

static void flow_point_to_point(struct mpi_call *c, struct flow *f)
{
	bool two = c->fn->family == FAMILY_SENDRECV;
	int64_t parts = 1;

	mpi_call_value(c, ROLE_partitions, &parts);
	f->sends = c->fn->family != FAMILY_RECV;
	f->receives = c->fn->family != FAMILY_SEND;
	f->two_buffers = f->sends && f->receives;
	if (f->sends)
		f->send = two ? buffer_bytes(c, ROLE_scount, ROLE_sdtype, 1) :
				buffer_bytes(c, ROLE_count, ROLE_dtype, parts);
	if (f->receives)
		f->recv = two ? buffer_bytes(c, ROLE_rcount, ROLE_rdtype, 1) :
				buffer_bytes(c, ROLE_count, ROLE_dtype, parts);
}

/* Put and accumulate send the origin's buffer, get receives it; fetching ones do both. */
static void flow_one_sided(struct mpi_call *c, struct flow *f)
{
	bool single = c->fn->at[ROLE_ocount] < 0; /* fetch_and_op, compare_and_swap: one element */
	int64_t origin = single ? mpi_call_type_bytes(c, ROLE_dtype) :
				  buffer_bytes(c, ROLE_ocount, ROLE_odtype, 1);

	f->sends = c->fn->family != FAMILY_GET;
	f->receives = c->fn->family != FAMILY_PUT;
	f->two_buffers = f->sends && f->receives;
	f->send = origin;
	f->recv = c->fn->family == FAMILY_GET || single ?
			  origin :
			  buffer_bytes(c, ROLE_result_count, ROLE_result_dtype, 1);
}

static void flow_file_access(struct mpi_call *c, struct flow *f)
{
	f->sends = c->fn->family == FAMILY_WRITE;
	f->receives = !f->sends;
	f->send = f->recv = buffer_bytes(c, ROLE_count, ROLE_dtype, 1);
}

static void (*const flows[])(struct mpi_call *c, struct flow *f) = {
	[FAMILY_SEND] = flow_point_to_point,
	[FAMILY_RECV] = flow_point_to_point,
	[FAMILY_SENDRECV] = flow_point_to_point,
	[FAMILY_SENDRECV_REPLACE] = flow_point_to_point,
	[FAMILY_PUT] = flow_one_sided,
	[FAMILY_GET] = flow_one_sided,
	[FAMILY_GET_PUT] = flow_one_sided,
	[FAMILY_READ] = flow_file_access,
	[FAMILY_WRITE] = flow_file_access,
	[FAMILY_BCAST] = flow_bcast,
	[FAMILY_GATHER] = flow_gather,
	[FAMILY_SCATTER] = flow_scatter,
	[FAMILY_REDUCE] = flow_reduce,
	[FAMILY_ALLGATHER] = flow_all_to_all,
	[FAMILY_ALLTOALL] = flow_all_to_all,
	[FAMILY_NEIGHBOR_ALLGATHER] = flow_neighbors,
	[FAMILY_NEIGHBOR_ALLTOALL] = flow_neighbors,
	[FAMILY_ALLREDUCE] = flow_allreduce,
	[FAMILY_EXSCAN] = flow_exscan,
	[FAMILY_REDUCE_SCATTER] = flow_reduce_scatter,
	[FAMILY_REDUCE_SCATTER_BLOCK] = flow_reduce_scatter,
	[FAMILY_CNT] = NULL,
};

/* ---- peers ---- */

bool mpi_peer_map(const struct mpi_flavour_info *fl, int64_t v, int32_t *out)
{
	if (v == fl->any_source)
		*out = PEER_ANY;
	else if (v == fl->proc_null)
		*out = PEER_NULL;
	else if (v == fl->root)
		*out = PEER_ROOT;
	else if (v >= 0)
		*out = v;
	else
		return false;
	return true;
}

bool mpi_tag_map(const struct mpi_flavour_info *fl, int64_t v, int32_t *out)
{
	if (v != fl->any_tag && v < 0)
		return false;
	*out = v == fl->any_tag ? TAG_ANY : (int32_t)v;
	return true;
}

/*
 * Takes source and tag from the probe that matched the message, if the call has no such arguments.
 */
static void origin_find(const struct mpi_call *c, struct call_roles *r)
{
	const struct mpi_origin *o = mpi_call_origin(c);

	if (c->fn->family != FAMILY_RECV || !o || c->fn->at[ROLE_message] < 0)
		return;
	r->matched_ns = o->probed_ns;
	r->peer = r->recv_peer = o->source;
	r->tag = r->recv_tag = o->tag;
	r->has_peer = r->has_tag = true;
}

static void peers_find(const struct mpi_call *c, struct call_roles *r)
{
	const struct mpi_flavour_info *fl = c->process->flavour;
	enum mpi_family family = c->fn->family;
	bool gets = family == FAMILY_RECV || family == FAMILY_PROBE;
	int64_t v;

	r->peer = r->recv_peer = PEER_NULL;
	r->tag = r->recv_tag = TAG_ANY;
	if (mpi_call_value(c, ROLE_source, &v) && mpi_peer_map(fl, v, &r->recv_peer) && gets) {
		r->peer = r->recv_peer;
		r->has_peer = true;
	}
	r->any_source = r->recv_peer == PEER_ANY;
	if (mpi_call_value(c, ROLE_dest, &v) || mpi_call_value(c, ROLE_target, &v))
		r->has_peer = mpi_peer_map(fl, v, &r->peer);
	if (family == FAMILY_GET || family == FAMILY_GET_PUT)
		r->recv_peer = r->peer;
	if (mpi_call_value(c, ROLE_tag, &v) || mpi_call_value(c, ROLE_stag, &v))
		r->has_tag = mpi_tag_map(fl, v, &r->tag);
	if (mpi_call_value(c, ROLE_rtag, &v))
		mpi_tag_map(fl, v, &r->recv_tag);
	else if (gets)
		r->recv_tag = r->tag;
	if (mpi_call_value(c, ROLE_root, &v))
		r->has_root = mpi_peer_map(fl, v, &r->root);
	origin_find(c, r);
}

static bool is_null_peer(const struct mpi_call *c, enum mpi_role role)
{
	int64_t v;

	return mpi_call_value(c, role, &v) && v == c->process->flavour->proc_null;
}

/* MPI_PROC_NULL neither sends nor receives. */
static void null_peers_apply(const struct mpi_call *c, struct flow *f)
{
	bool target = is_null_peer(c, ROLE_target);

	if (target || is_null_peer(c, ROLE_dest))
		f->send = 0;
	if (target || is_null_peer(c, ROLE_source))
		f->recv = 0;
}

/* A receive's status shows who sent what, wildcards or not. */
static void status_apply(const struct mpi_call *c, struct call_view *out, struct flow *f)
{
	struct call_roles *r = &out->roles;
	const struct mpi_flavour_info *fl = c->process->flavour;
	enum mpi_family family = c->fn->family;
	bool leg = family == FAMILY_SENDRECV || family == FAMILY_SENDRECV_REPLACE;
	struct mpi_status st;

	if (!c->ok || !mpi_call_status(c, 0, &st) || st.cancelled)
		return;
	if (family == FAMILY_PROBE && (c->fn->attrs.flags & FUNC_POLL) && !r->poll_found)
		return;
	if (family == FAMILY_READ || family == FAMILY_WRITE) {
		int64_t *bytes = family == FAMILY_READ ? &f->recv : &f->send;

		*bytes = st.bytes >= 0 ? st.bytes : *bytes;
		mpi_status_show(c, &st, false, out);
		return;
	}
	if (!leg && family != FAMILY_RECV && family != FAMILY_PROBE)
		return;
	mpi_status_show(c, &st, true, out);
	if (st.bytes >= 0)
		f->recv = st.bytes;
	mpi_peer_map(fl, st.source, &r->recv_peer);
	mpi_tag_map(fl, st.tag, &r->recv_tag);
	if (leg)
		return;
	r->has_peer = mpi_peer_map(fl, st.source, &r->peer);
	r->has_tag = mpi_tag_map(fl, st.tag, &r->tag);
}

static bool poll_found(const struct mpi_call *c)
{
	int64_t v;

	if (!c->ok || !(c->fn->attrs.flags & FUNC_POLL))
		return false;
	if (mpi_call_first(c, ROLE_flag, &v))
		return v;
	if (mpi_call_first(c, ROLE_outcount, &v))
		return v > 0;
	return true; /* a poll that found nothing has no record of its own */
}

/* ---- shown values ---- */

static void value_bytes(struct call_view *out, const char *name, int64_t bytes)
{
	if (bytes >= 0)
		call_view_add(out, name, VALUE_INT)->i = bytes;
}

/*
 * Shows the bytes. asked: what the arguments say, without the status. With one buffer, shows its
 * count × size. With two, shows the bytes sent, or else those received.
 */
static void bytes_show(struct mpi_call *c, const struct flow *asked, struct call_view *out)
{
	int64_t bytes = asked->sends ? asked->send : asked->recv;

	if (out->roles_only || (!asked->sends && !asked->receives))
		return;
	if (asked->two_buffers && asked->sends)
		value_bytes(out, "send_bytes", asked->send);
	if (asked->two_buffers && asked->receives)
		value_bytes(out, "recv_bytes", asked->recv);
	if (c->fn->family == FAMILY_BCAST) /* the same for root and others */
		bytes = buffer_bytes(c, ROLE_count, ROLE_dtype, 1);
	value_bytes(out, "bytes", bytes);
}

void mpi_world_rank(struct mpi_communicator *comm, int32_t rank, int32_t *world, int32_t *job,
		    uint8_t *why)
{
	struct mpi_member who;

	*world = -1;
	*job = -1;
	*why = PEER_KNOWN;
	if (rank < 0)
		return;
	*why = mpi_communicator_peer(comm, rank, &who);
	if (*why == PEER_KNOWN) {
		*world = who.rank;
		*job = who.job;
	}
}

static void comm_sizes(struct mpi_communicator *comm, struct call_roles *r)
{
	struct mpi_group *remote = mpi_communicator_group(comm, true);
	int32_t others = mpi_group_size(remote);

	r->comm_size = r->comm_all = mpi_group_size(mpi_communicator_group(comm, false));
	if (!remote)
		return;
	r->comm_all = r->comm_size >= 0 && others >= 0 ? r->comm_size + others : -1;
	r->comm_size = -1;
}

static void world_ranks(struct mpi_call *c, struct call_roles *r)
{
	struct mpi_communicator *comm = NULL;

	if (r->has_peer || r->has_root || r->has_comm)
		comm = mpi_call_ranks(c);
	r->comm_id = comm ? mpi_communicator_id(comm) : 0;
	comm_sizes(comm, r);
	r->comm_world = c->comm_known && c->comm_known->is_world;
	mpi_world_rank(comm, r->has_peer ? r->peer : PEER_NULL, &r->peer_world, &r->peer_job,
		       &r->peer_why);
	if (r->has_peer && r->recv_peer == r->peer) {
		r->recv_peer_world = r->peer_world;
		r->recv_peer_job = r->peer_job;
		r->recv_peer_why = r->peer_why;
	} else {
		mpi_world_rank(comm, r->recv_peer, &r->recv_peer_world, &r->recv_peer_job,
			       &r->recv_peer_why);
	}
	mpi_world_rank(comm, r->has_root ? r->root : PEER_NULL, &r->root_world, &r->root_job,
		       &r->root_why);
}

static void world_rank_show(const struct mpi_call *c, struct call_view *out, const char *rank_name,
			    int32_t rank, const char *job_name, int32_t job)
{
	if (rank < 0)
		return;
	call_view_add(out, rank_name, VALUE_INT)->i = rank;
	if (job != c->process->job)
		call_view_add(out, job_name, VALUE_INT)->i = job;
}

/* Shows world ranks that differ from the ranks in the arguments. */
static void world_ranks_show(struct mpi_call *c, struct call_view *out)
{
	bool gets = c->fn->family == FAMILY_RECV || c->fn->family == FAMILY_PROBE;
	const struct mpi_known_comm *comm = mpi_call_comm(c);
	const struct call_roles *r = &out->roles;

	if (out->roles_only || (comm && comm->is_world))
		return;
	if (!gets)
		world_rank_show(c, out, "dest_world", r->peer_world, "dest_job", r->peer_job);
	world_rank_show(c, out, "source_world", r->recv_peer_world, "source_job", r->recv_peer_job);
	world_rank_show(c, out, "root_world", r->root_world, "root_job", r->root_job);
}

void mpi_roles(struct mpi_call *c, struct call_view *out)
{
	struct call_roles *r = &out->roles;
	struct flow f = {.comm = mpi_call_comm(c), .send = -1, .recv = -1};
	int64_t comm, provided;

	if (c->parts.returned && c->fn->returns_error)
		r->error = (int32_t)c->parts.rec->ret;
	if (r->error)
		r->error_name = mpi_flavour_error_name(c->process->flavour, r->error);
	r->poll_found = poll_found(c);
	r->threads_multiple = c->ok && mpi_call_first(c, ROLE_provided, &provided) &&
			      provided == c->process->flavour->levels[MPI_LEVELS - 1];
	if (mpi_call_value(c, ROLE_comm, &comm)) {
		r->has_comm = true;
		r->comm = comm;
	}
	peers_find(c, r);
	if (flows[c->fn->family])
		flows[c->fn->family](c, &f);
	null_peers_apply(c, &f);
	bytes_show(c, &f, out);
	status_apply(c, out, &f);
	world_ranks(c, r);
	world_ranks_show(c, out);
	r->sends = f.sends;
	r->receives = f.receives;
	r->send_bytes = !f.sends ? 0 : f.send >= 0 ? f.send : BYTES_UNKNOWN;
	r->recv_bytes = !f.receives ? 0 : f.recv >= 0 ? f.recv : BYTES_UNKNOWN;
}
