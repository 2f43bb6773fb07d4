/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Counts the model's messages by what is known of their peers. */
#include "analysis/peers.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"

const char *const peer_unknown_text[PEER_UNKNOWN_CNT] = {
	[PEER_UNKNOWN_COMM] = "how their communicator was made was not recorded",
	[PEER_UNKNOWN_MEMBERS] = "not all who made their communicator had been recorded",
	[PEER_UNKNOWN_ORDER] = "the library was free to order the ranks, and had not told",
	[PEER_UNKNOWN_OTHER] = "of a spawned or connected program",
	[PEER_UNKNOWN_WORLD] = "their own rank in MPI_COMM_WORLD is not known",
	[PEER_UNKNOWN_ANY] = "received from any source, without a status",
	[PEER_UNKNOWN_CONFLICT] = "what was recorded of their communicator contradicts itself",
};

const char *const peer_unknown_key[PEER_UNKNOWN_CNT] = {
	[PEER_UNKNOWN_COMM] = "communicator_not_recorded",
	[PEER_UNKNOWN_MEMBERS] = "members_not_recorded",
	[PEER_UNKNOWN_ORDER] = "reordered",
	[PEER_UNKNOWN_OTHER] = "other_program",
	[PEER_UNKNOWN_WORLD] = "no_world_rank",
	[PEER_UNKNOWN_ANY] = "any_source",
	[PEER_UNKNOWN_CONFLICT] = "contradiction",
};

static void on_message(void *ctx, const struct model_message *msg)
{
	uint32_t idx = (uint32_t)msg->operation->thread->proc->sort_order;
	struct peers *a = ctx;

	a->process = table_reserve(a->process, &a->nprocess, idx, sizeof(*a->process));
	a->process[idx].messages++;
	if (msg->why != PEER_KNOWN)
		a->process[idx].unknown[msg->why]++;
}

void peers_init(struct peers *a)
{
	memset(a, 0, sizeof(*a));
	a->sink.ctx = a;
	a->sink.message = on_message;
}

void peers_release(struct peers *a)
{
	free(a->process);
}

struct peers_row peers_of(const struct peers *a, uint32_t idx)
{
	return idx < a->nprocess ? a->process[idx] : (struct peers_row){0};
}

void peers_row_add(struct peers_row *to, const struct peers_row *from)
{
	to->messages += from->messages;
	for (int why = 0; why < PEER_UNKNOWN_CNT; why++)
		to->unknown[why] += from->unknown[why];
}
