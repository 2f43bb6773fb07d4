/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Communicators made by calls: who takes part, and who their members are by all calls together
 * (mpi_comm.h).
 */
#include <stdlib.h>

#include "lib/log.h"
#include "layers/mpi/mpi_decode.h"
#include "layers/mpi/mpi_spawn.h"

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

struct mpi_known_comm *mpi_call_parent(struct mpi_call *c)
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

struct mpi_making *mpi_call_making(struct mpi_call *c)
{
	struct mpi_known_comm *parent = mpi_call_parent(c);
	struct mpi_making *m;

	if (!parent || !parent->whole)
		return NULL;
	m = parent->announced;
	parent->announced = NULL;
	return m ? m : making_join(c, parent);
}

/* ---- new communicators ---- */

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

int32_t mpi_topology_size(const struct mpi_call *c, int32_t all)
{
	int64_t n;

	if (c->fn->effect == EFFECT_CART)
		return dims_product(c);
	if (c->fn->effect == EFFECT_DIST_GRAPH)
		return all;
	return mpi_call_value(c, ROLE_nnodes, &n) && n >= 0 ? (int32_t)n : -1;
}

bool mpi_may_reorder(const struct mpi_call *c)
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

struct mpi_communicator *mpi_call_made(struct mpi_call *c, struct mpi_making *m,
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
