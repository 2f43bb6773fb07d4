/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Learns about communicators: own rank and size, neighbours, and properties that a communicator
 * made by a call (mpi_make_comm.c) inherits from its parent.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "layers/mpi/mpi_decode.h"
#include "layers/mpi/mpi_spawn.h"

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
