/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What a call that has not returned waits for, as far as its arguments tell. */
#include "layers/mpi/mpi_decode.h"

/* Requests that a call waits for and that were seen to start. Returns the communicator of the first one, or NULL. */
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
		known = mpi_process_request(c->process, handle, c->begin_ns);
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

/* Leaves them out if one is unknown. */
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
