/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Counts the model's messages by how well their peers are known. */
#include "analysis/peers.h"

#include <stdlib.h>

#include "analysis/table.h"

static void on_message(void *ctx, const struct model_message *msg)
{
	uint32_t idx = msg->operation->thread->proc->idx;
	struct peers *a = ctx;
	struct peers_row *r = table_row(a->process, a->nprocess, idx);

	r->messages++;
	r->by[msg->why]++;
}

void peers_init(struct peers *a)
{
	*a = (struct peers){.sink = {.ctx = a, .message = on_message}};
}

void peers_release(struct peers *a)
{
	free(a->process);
}

const struct peers_row *peers_of(const struct peers *a, uint32_t idx)
{
	static const struct peers_row none;

	return idx < a->nprocess ? &a->process[idx] : &none;
}
