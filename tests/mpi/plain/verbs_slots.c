/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Prints, as a header, which functions of a provider's table the installed libibverbs puts where programs look for them: it is given
 * a table of numbers. So nothing here knows the private interface, and the result is a witness for what is read out of
 * the library's code (user/elf/verbs_ops.h).
 */
#include <stdint.h>
#include <stdio.h>

#include "verbs_abi.h"

#define SLOT(fn) ((unsigned long)(uintptr_t)(fn)-1)

int main(void)
{
	struct verbs_context *v = verbs_context_new();
	struct verbs_ops ops;

	for (uintptr_t i = 0; i < VERBS_SLOTS; i++)
		ops.slot[i] = (verbs_any_fn *)(i + 1);
	verbs_set_ops(v, &ops);
	printf("#define SLOT_POST_SEND %lu\n", SLOT(v->context.ops.post_send));
	printf("#define SLOT_POST_RECV %lu\n", SLOT(v->context.ops.post_recv));
	printf("#define SLOT_POST_SRQ_RECV %lu\n", SLOT(v->context.ops.post_srq_recv));
	printf("#define SLOT_POLL_CQ %lu\n", SLOT(v->context.ops.poll_cq));
	return 0;
}
