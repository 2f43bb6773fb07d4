/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "core/rest.h"

enum { TAG_DONE = 0x3de1 };
/*
 * Interval at which a sleeper checks for the end. A check takes a few µs, below a thousandth of
 * it.
 */
#define REST_NS 5000000

void rest_wake(struct comm *c, int rank)
{
	struct comm_msg nothing = {.buf = NULL, .bytes = 0};

	c->ops->send(c, &nothing, rank, TAG_DONE);
}

void rest_until_woken(struct comm *c)
{
	struct comm_msg nothing = {.buf = NULL, .bytes = 0};
	struct comm_request done = {0};

	c->ops->irecv(c, &nothing, 0, TAG_DONE, &done);
	while (!c->ops->test(c, &done))
		c->ops->sleep(c, REST_NS);
}
