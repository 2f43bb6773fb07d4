/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Prints a header with the slots of a provider's table. The installed libibverbs puts these
 * functions where programs look for them, or calls them itself. It gets tables of two functions,
 * one where a bit of the slot's number is set, the other where it is not. So nothing here knows the
 * private interface, and the result confirms what is read from the library's code
 * (user/layers/verbs/library_verbs.h).
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "verbs_abi.h"

static bool is_set_called;

static void *bit_is_set(void)
{
	is_set_called = true;
	return NULL;
}

static void *bit_is_clear(void)
{
	is_set_called = false;
	return NULL;
}

/* Tests a function that programs call through the context. */
#define IN_CONTEXT(name)                                          \
	static bool name(struct ibv_context *c)                   \
	{                                                         \
		return (void *)c->ops.name == (void *)bit_is_set; \
	}
IN_CONTEXT(post_send)
IN_CONTEXT(post_recv)
IN_CONTEXT(post_srq_recv)
IN_CONTEXT(poll_cq)

static bool modify_qp(struct ibv_context *c)
{
	struct ibv_qp qp = {.context = c};
	struct ibv_qp_attr attr = {0};

	ibv_modify_qp(&qp, &attr, 0);
	return is_set_called;
}

static bool create_ah(struct ibv_context *c)
{
	struct ibv_pd pd = {.context = c};
	struct ibv_ah_attr attr = {0};

	ibv_create_ah(&pd, &attr);
	return is_set_called;
}

static const struct {
	const char *name;
	bool (*has_bit)(struct ibv_context *c);
} slots[] = {
	{"POST_SEND", post_send}, {"POST_RECV", post_recv}, {"POST_SRQ_RECV", post_srq_recv},
	{"POLL_CQ", poll_cq},	  {"MODIFY_QP", modify_qp}, {"CREATE_AH", create_ah},
};

int main(void)
{
	unsigned int number[sizeof(slots) / sizeof(*slots)] = {0};
	struct verbs_ops ops;

	for (unsigned int bit = 1; bit < VERBS_SLOTS; bit *= 2) {
		struct verbs_context *v = verbs_context_new();

		for (unsigned int i = 0; i < VERBS_SLOTS; i++)
			ops.slot[i] = (verbs_any_fn *)(i & bit ? bit_is_set : bit_is_clear);
		verbs_set_ops(v, &ops);
		for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++)
			number[i] |= slots[i].has_bit(&v->context) ? bit : 0;
	}
	for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++)
		printf("#define SLOT_%s %u\n", slots[i].name, number[i]);
	return 0;
}
