/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Learns about communicators: own rank and size, neighbours, and properties that a communicator
 * made by a call inherits from its parent; and who the members of such a communicator are, by the
 * calls of all (mpi_comm.h).
 */
#include <stdlib.h>
#include <string.h>

#include "layers/mpi/mpi_decode.h"
#include "layers/mpi/mpi_comm_internal.h"
#include "lib/log.h"

#define SUB_MAX (1 << 20) /* most members of a part of a topology with unknown members */

/* ---- calls that belong together ---- */

/*
 * True if all members of a parent call; otherwise, only future members of the new communicator do.
 */
static bool has_parent(enum mpi_effect e)
{
	return mpi_effect_makes_comm(e) && e != EFFECT_COMM_OF_GROUP &&
	       e != EFFECT_INTERCOMM_OF_GROUPS && e != EFFECT_CONNECT && e != EFFECT_GET_PARENT;
}

/* The communicator whose members make a new one by this call, or NULL. */
static struct mpi_known_comm *mpi_call_parent(struct mpi_call *c)
{
	int64_t handle;

	if (!has_parent(c->fn->effect))
		return NULL;
	if (c->fn->effect != EFFECT_INTERCOMM_NEW)
		return mpi_call_comm(c);
	return mpi_call_value(c, ROLE_local_comm, &handle) ? mpi_process_comm(c->process, handle) :
							     NULL;
}

static void split_part(const struct mpi_call *c, struct mpi_part *part)
{
	const struct mpi_flavour_info *fl = c->process->flavour;
	int64_t v = fl->undefined;

	if (mpi_call_value(c, ROLE_color, &v))
		part->color = v;
	else if (mpi_call_value(c, ROLE_split_type, &v))
		part->color = v == fl->comm_type_shared ? (int64_t)c->process->host : -1;
	part->takes_part = v != fl->undefined;
	if (mpi_call_value(c, ROLE_key, &v))
		part->key = (int32_t)v;
}

/*
 * Records the remote leader that the leader of one side names; other ranks' arguments mean nothing.
 */
static void leader_report(const struct mpi_call *c, struct mpi_making *m,
			  struct mpi_known_comm *local)
{
	struct mpi_member remote;
	int64_t leader, peers, rank, tag;

	if (!mpi_call_value(c, ROLE_local_leader, &leader) || leader != mpi_comm_rank(c, local) ||
	    !mpi_call_value(c, ROLE_peer_comm, &peers) ||
	    !mpi_call_value(c, ROLE_remote_leader, &rank) || !mpi_call_value(c, ROLE_tag, &tag))
		return;
	if (mpi_communicator_peer(mpi_process_comm(c->process, peers)->whole, (int32_t)rank,
				  &remote) == PEER_KNOWN)
		mpi_making_lead(m, mpi_process_self(c->process), remote, (int32_t)tag);
}

/* Records the arguments of a spawning call's root. */
static void root_report(const struct mpi_call *c, struct mpi_making *m, struct mpi_known_comm *comm)
{
	int64_t root, size = -1;

	if (!mpi_call_value(c, ROLE_root, &root) || root < 0 || root != mpi_comm_rank(c, comm))
		return;
	mpi_call_value(c, ROLE_maxprocs, &size);
	mpi_spawn_begin(c->process->trace_comms, m, mpi_process_self(c->process), (int32_t)size,
			c->parts.begin_ns);
}

static struct mpi_making *making_join(const struct mpi_call *c, struct mpi_known_comm *parent)
{
	struct mpi_part part = {
		.who = mpi_process_self(c->process),
		.parent_rank = mpi_comm_rank(c, parent),
		.takes_part = true,
	};
	struct mpi_making *m;

	if (c->fn->effect == EFFECT_COMM_SPLIT)
		split_part(c, &part);
	m = mpi_making_join(parent->whole, &parent->joined, c->fn->base, &part, c->parts.begin_ns,
			    c->process->one_clock);
	if (c->fn->effect == EFFECT_INTERCOMM_NEW)
		leader_report(c, m, parent);
	else if (c->fn->effect == EFFECT_SPAWN)
		root_report(c, m, parent);
	return m;
}

void mpi_announce(struct mpi_call *c)
{
	struct mpi_known_comm *parent = mpi_call_parent(c);

	if (!parent || !parent->whole)
		return;
	mpi_making_unref(parent->announced); /* of an earlier call that never returned */
	parent->announced = making_join(c, parent);
}

/* The making that the call is part of; a reference, or NULL. */
static struct mpi_making *mpi_call_making(struct mpi_call *c)
{
	struct mpi_known_comm *parent = mpi_call_parent(c);
	struct mpi_making *m;

	if (!parent || !parent->whole)
		return NULL;
	m = parent->announced;
	parent->announced = NULL;
	return m ? m : making_join(c, parent);
}

/* ---- what they make ---- */

/* The communicator with these groups, whose references it takes over. */
static struct mpi_communicator *made_of(struct mpi_call *c, struct mpi_making *m, int64_t key,
					struct mpi_group *group, struct mpi_group *remote)
{
	return m ? mpi_making_get(m, key, group, remote) :
		   mpi_communicator_new(c->process->trace_comms, group, remote);
}

static struct mpi_communicator *made_by_split(struct mpi_call *c, struct mpi_making *m,
					      const struct mpi_known_comm *parent)
{
	struct mpi_part part = {0};

	split_part(c, &part);
	if (part.color < 0 && c->fn->at[ROLE_split_type] >= 0) /* by hardware: sockets, caches, … */
		return made_of(c, NULL, 0, mpi_group_unknown(PEER_UNKNOWN_ORDER), NULL);
	return made_of(c, m, part.color, NULL,
		       parent->inter ? mpi_group_unknown(PEER_UNKNOWN_COMM) : NULL);
}

/* The order of the two groups decides; ranks in the new communicator will reveal it. */
static struct mpi_communicator *made_by_merge(struct mpi_call *c, struct mpi_making *m,
					      struct mpi_group *local, struct mpi_group *remote)
{
	struct mpi_communicator *made = made_of(c, m, 0, mpi_group_unknown(PEER_UNKNOWN_ORDER),
						NULL);

	mpi_communicator_merged(made, local, remote);
	return made;
}

static int32_t dims_product(const struct mpi_call *c)
{
	int64_t n = mpi_call_product(c, ROLE_dims);

	return n <= INT32_MAX ? n : -1;
}

/* Number of ranks in a topology whose parent has `all`; -1 if unknown. */
static int32_t mpi_topology_size(const struct mpi_call *c, int32_t all)
{
	int64_t n;

	if (c->fn->effect == EFFECT_CART)
		return dims_product(c);
	if (c->fn->effect == EFFECT_DIST_GRAPH)
		return all;
	return mpi_call_value(c, ROLE_nnodes, &n) && n >= 0 ? (int32_t)n : -1;
}

/* True if ranks in the new communicator may differ from those in the parent. */
static bool mpi_may_reorder(const struct mpi_call *c)
{
	bool topology = c->fn->effect == EFFECT_CART || c->fn->effect == EFFECT_GRAPH ||
			c->fn->effect == EFFECT_DIST_GRAPH;
	int64_t reorder;

	return topology && mpi_call_value(c, ROLE_reorder, &reorder) && reorder;
}

/* The first ranks of the parent, in its order unless the library may reorder them. */
static struct mpi_communicator *made_by_topology(struct mpi_call *c, struct mpi_making *m,
						 struct mpi_group *parent)
{
	int32_t n = mpi_topology_size(c, INT32_MAX);

	if (mpi_may_reorder(c))
		return mpi_making_get_placed(m);
	return made_of(c, m, 0, n == INT32_MAX ? mpi_group_ref(parent) : mpi_group_first(parent, n),
		       NULL);
}

/*
 * Ranks that differ from this one only in the remaining coordinates, the last of which varies
 * fastest. *key: the first of these ranks.
 */
static struct mpi_group *cart_sub_group(struct mpi_call *c, struct mpi_known_comm *parent,
					int64_t *key)
{
	int arg = c->fn->at[ROLE_remain_dims];
	int32_t rank = mpi_comm_rank(c, parent), size, *ranks;
	int64_t first = rank, n = 1, stride = 1;
	struct mpi_group *g;

	if (rank < 0 || arg < 0 || !parent->ndims || mpi_call_kept(c, arg) != parent->ndims)
		return mpi_group_unknown(PEER_UNKNOWN_COMM);
	for (uint32_t d = parent->ndims; d-- > 0; stride *= parent->dims[d])
		if (mpi_call_elem(c, arg, d)) {
			first -= rank / stride % parent->dims[d] * stride;
			n *= parent->dims[d];
		}
	size = mpi_group_size(mpi_communicator_group(parent->whole, false));
	if (n > (size < 0 ? SUB_MAX : size))
		return mpi_group_unknown(PEER_UNKNOWN_MEMBERS);
	ranks = xcalloc((size_t)n, sizeof(*ranks));
	ranks[0] = (int32_t)first;
	n = stride = 1;
	for (uint32_t d = parent->ndims; d-- > 0; stride *= parent->dims[d]) {
		if (!mpi_call_elem(c, arg, d))
			continue;
		for (int64_t i = n; i < n * parent->dims[d]; i++)
			ranks[i] = ranks[i - n] + (int32_t)stride;
		n *= parent->dims[d];
	}
	g = mpi_group_of_ranks(mpi_communicator_group(parent->whole, false), ranks, (uint32_t)n,
			       false);
	free(ranks);
	*key = first;
	return g;
}

/* The communicator that the call has made in m; a reference, or NULL. parent: NULL if unknown. */
static struct mpi_communicator *mpi_call_made(struct mpi_call *c, struct mpi_making *m,
					      struct mpi_known_comm *parent)
{
	struct mpi_group *group = mpi_communicator_group(parent ? parent->whole : NULL, false);
	struct mpi_group *remote = mpi_communicator_group(parent ? parent->whole : NULL, true);
	int64_t key = 0;

	if (!m && has_parent(c->fn->effect))
		return NULL; /* its parent is unknown */
	switch (c->fn->effect) {
	case EFFECT_COMM_DUP:
		return made_of(c, m, 0, mpi_group_ref(group), mpi_group_ref(remote));
	case EFFECT_COMM_SPLIT:
		return made_by_split(c, m, parent);
	case EFFECT_COMM_CREATE:
		group = mpi_call_group(c, ROLE_group);
		return group && !remote ? mpi_making_get_group(m, group) : NULL;
	case EFFECT_COMM_OF_GROUP:
		return mpi_call_made_of_group(c);
	case EFFECT_INTERCOMM_NEW:
		return made_of(c, m, 0, mpi_group_ref(group), mpi_making_remote(m));
	case EFFECT_INTERCOMM_OF_GROUPS:
		return made_of(c, NULL, 0, mpi_group_ref(mpi_call_group(c, ROLE_local_group)),
			       mpi_group_ref(mpi_call_group(c, ROLE_remote_group)));
	case EFFECT_INTERCOMM_MERGE:
		return made_by_merge(c, m, group, remote);
	case EFFECT_SPAWN:
		return made_of(c, m, 0, mpi_group_ref(group),
			       mpi_spawn_children(c->process->trace_comms, m,
						  c->parts.rec->hdr.ts_ns));
	case EFFECT_GET_PARENT:
		return mpi_spawn_parents(c->process->trace_comms, c->process->job,
					 c->process->world_size, c->parts.rec->hdr.ts_ns);
	case EFFECT_CONNECT:
		group = mpi_communicator_group(mpi_call_ranks(c), false);
		return made_of(c, NULL, 0, mpi_group_ref(group),
			       mpi_group_unknown(PEER_UNKNOWN_OTHER));
	case EFFECT_CART_SUB:
		group = cart_sub_group(c, parent, &key);
		return made_of(c, m, key, group, NULL);
	case EFFECT_CART:
	case EFFECT_GRAPH:
	case EFFECT_DIST_GRAPH:
		return made_by_topology(c, m, group);
	default:
		return NULL;
	}
}

/* ---- what a process knows of its communicators ---- */

struct mpi_known_comm *mpi_call_comm(struct mpi_call *c)
{
	int64_t handle;

	if (!c->comm_known && mpi_call_value(c, ROLE_comm, &handle) &&
	    (uint64_t)handle != c->process->comm_null)
		c->comm_known = mpi_process_comm(c->process, handle);
	return c->comm_known;
}

struct mpi_communicator *mpi_call_ranks(struct mpi_call *c)
{
	struct mpi_known_comm *comm = mpi_call_comm(c);
	const struct mpi_origin *origin = comm ? NULL : mpi_call_origin(c);

	return comm ? comm->whole : origin ? origin->comm : NULL;
}

const struct mpi_origin *mpi_call_origin(const struct mpi_call *c)
{
	int64_t handle;

	if (mpi_call_value(c, ROLE_win, &handle) || mpi_call_first(c, ROLE_message, &handle))
		return mpi_process_origin(c->process, handle, c->parts.begin_ns);
	return NULL;
}

int32_t mpi_comm_rank(const struct mpi_call *c, struct mpi_known_comm *comm)
{
	if (comm->rank < 0 && comm->whole)
		comm->rank = mpi_group_rank(mpi_communicator_group(comm->whole, false),
					    mpi_process_self(c->process));
	return comm->rank;
}

int32_t mpi_comm_peers(const struct mpi_known_comm *comm)
{
	return !comm ? -1 : comm->inter ? comm->remote : comm->size;
}

/* ---- data from arrays and queries ---- */

static void peers_learn(struct mpi_known_comm *comm, uint32_t cnt)
{
	if (!comm->inter && !comm->whole && comm->size >= 0 && (uint32_t)comm->size != cnt)
		comm->inter = true; /* arrays have the length of the other group */
	if (comm->inter)
		comm->remote = cnt;
	else
		comm->size = cnt;
}

/* Learns from the lengths that the kernel half found for arrays. */
static void learn_from_fields(struct mpi_call *c, struct mpi_known_comm *comm)
{
	int64_t root;

	for (uint32_t i = 0; i < c->parts.nargs; i++) {
		const struct mpi_field *f = &c->field[i];

		if (!f->type || f->cnt > INT32_MAX)
			continue;
		switch (c->fn->sig.arg[i].len) {
		case POV_LEN_ROOT_SIZE:
			if (f->type == POV_FIELD_TYPE_SIZE)
				break;
			peers_learn(comm, f->cnt);
			if (mpi_call_value(c, ROLE_root, &root) && root >= 0 && !comm->inter)
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

static void comm_report(struct mpi_call *c, struct mpi_known_comm *comm)
{
	mpi_communicator_report(comm->whole, mpi_process_self(c->process), comm->rank, comm->size);
}

/* Learns from the library's own object of a communicator: the call's, or the one that it made. */
static void learn_from_object(struct mpi_call *c, struct mpi_known_comm *comm, enum mpi_role role)
{
	if (c->comm_arg < 0 || c->comm_arg != c->fn->at[role])
		return;
	if (c->comm.rank >= 0)
		comm->rank = c->comm.rank;
	if (c->comm.size >= 0)
		peers_learn(comm, c->comm.size);
	if (comm->inter)
		return;
	comm_report(c, comm);
	if (c->process->contexts_agree && c->comm.context_id != UINT64_MAX)
		mpi_communicator_context(comm->whole, c->comm.context_id);
}

static void count_learn(const struct mpi_call *c, enum mpi_role role, int32_t *out)
{
	int64_t v;

	if ((mpi_call_first(c, role, &v) || mpi_call_value(c, role, &v)) && v >= 0)
		*out = v;
}

static void learn_from_question(struct mpi_call *c, struct mpi_known_comm *comm)
{
	switch (c->fn->effect) {
	case EFFECT_COMM_SIZE:
		count_learn(c, ROLE_size, &comm->size);
		comm_report(c, comm);
		break;
	case EFFECT_COMM_RANK:
		count_learn(c, ROLE_rank, &comm->rank);
		comm_report(c, comm);
		break;
	case EFFECT_REMOTE_SIZE:
		count_learn(c, ROLE_size, &comm->remote);
		comm->inter |= comm->remote >= 0;
		break;
	case EFFECT_DEGREES:
		count_learn(c, ROLE_indeg, &comm->indeg);
		count_learn(c, ROLE_outdeg, &comm->outdeg);
		break;
	}
}

/* ---- new communicators ---- */

static void dims_copy(const struct mpi_known_comm *old, struct mpi_known_comm *new)
{
	if (!old->ndims)
		return;
	new->ndims = old->ndims;
	new->dims = xcalloc(old->ndims, sizeof(*new->dims));
	memcpy(new->dims, old->dims, old->ndims * sizeof(*new->dims));
}

static void learn_neighbours(struct mpi_call *c, struct mpi_known_comm *new)
{
	int dims = c->fn->at[ROLE_dims];

	if (c->fn->effect == EFFECT_CART && dims >= 0) {
		new->indeg = new->outdeg = 2 * c->field[dims].cnt;
		if (mpi_topology_size(c, -1) <= 0)
			return;
		new->ndims = mpi_call_kept(c, dims);
		new->dims = xcalloc(new->ndims + 1, sizeof(*new->dims));
		for (uint32_t i = 0; i < new->ndims; i++)
			new->dims[i] = (int32_t)mpi_call_elem(c, dims, i);
	}
	if (c->fn->effect == EFFECT_DIST_GRAPH) {
		count_learn(c, ROLE_indeg, &new->indeg);
		count_learn(c, ROLE_outdeg, &new->outdeg);
	}
}

/*
 * Copies properties of the parent that hold for the new communicator; the others follow from its
 * members.
 */
static void learn_shape(struct mpi_call *c, const struct mpi_known_comm *old,
			struct mpi_known_comm *new)
{
	int64_t reorder = 1;

	switch (c->fn->effect) {
	case EFFECT_COMM_DUP:
		new->rank = old->rank;
		new->size = old->size;
		new->remote = old->remote;
		new->inter = old->inter;
		new->indeg = old->indeg;
		new->outdeg = old->outdeg;
		dims_copy(old, new);
		break;
	case EFFECT_INTERCOMM_NEW:
	case EFFECT_INTERCOMM_OF_GROUPS:
	case EFFECT_CONNECT:
	case EFFECT_SPAWN:
	case EFFECT_GET_PARENT:
		new->inter = true;
		new->rank = old->rank;
		new->size = old->size;
		break;
	case EFFECT_CART:
	case EFFECT_GRAPH:
	case EFFECT_DIST_GRAPH:
		mpi_call_value(c, ROLE_reorder, &reorder);
		new->rank = reorder ? -1 : old->rank;
		new->size = mpi_topology_size(c, old->size);
		learn_neighbours(c, new);
	}
}

static void learn_newcomm(struct mpi_call *c, struct mpi_making *m)
{
	enum mpi_role role = c->fn->at[ROLE_newcomm] >= 0 ? ROLE_newcomm : ROLE_parent;
	struct mpi_known_comm unknown = {
		.rank = -1, .size = -1, .remote = -1, .indeg = -1, .outdeg = -1};
	struct mpi_known_comm *parent = mpi_call_parent(c), *new;
	struct mpi_communicator *made;
	int64_t handle;

	if (!mpi_call_first(c, role, &handle))
		return;
	if ((uint64_t)handle == c->process->comm_null && m && mpi_may_reorder(c))
		mpi_making_place(m, mpi_process_self(c->process), -1);
	if ((uint64_t)handle == c->process->comm_null ||
	    (parent && parent == mpi_process_comm(c->process, handle)))
		return;
	made = mpi_call_made(c, m, parent && parent->whole ? parent : NULL);
	if (made && made == mpi_process_comm(c->process, handle)->whole) { /* queried again */
		mpi_communicator_unref(made);
		return;
	}
	new = mpi_process_comm_renew(c->process, handle);
	mpi_communicator_unref(new->whole);
	new->whole = made;
	parent = parent ?: mpi_call_comm(c);
	learn_shape(c, parent ? parent : &unknown, new);
	if (new->size < 0)
		new->size = mpi_group_size(mpi_communicator_group(made, false));
	if (new->inter &&new->remote < 0)
		new->remote = mpi_group_size(mpi_communicator_group(made, true));
	mpi_comm_rank(c, new);
	if (strncmp(c->fn->base, "Comm_idup", 9)) /* its object is not complete yet */
		learn_from_object(c, new, role);
}

void mpi_learn_comm(struct mpi_call *c)
{
	struct mpi_known_comm *comm = mpi_call_comm(c);
	struct mpi_making *m;

	if (comm) {
		learn_from_fields(c, comm);
		learn_from_object(c, comm, ROLE_comm);
		if (c->ok)
			learn_from_question(c, comm);
	}
	if (!mpi_effect_makes_comm(c->fn->effect))
		return;
	m = mpi_call_making(c);
	if (m && c->fn->effect == EFFECT_SPAWN && c->parts.returned)
		mpi_spawn_end(c->process->trace_comms, m, mpi_process_self(c->process), c->ok,
			      c->parts.rec->hdr.ts_ns);
	if (c->ok)
		learn_newcomm(c, m);
	if (m)
		mpi_making_returned(m, c->fn->request == REQUEST_START ? MPI_MAKING_GOES_ON :
									 c->parts.rec->hdr.ts_ns);
	mpi_making_unref(m);
}
