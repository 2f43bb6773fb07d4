/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A provider of verbs without an adapter: what is posted is done at once. It hands its functions to the real libibverbs as
 * real ones do, and exports none of them.
 */
#include "verbs_loopback.h"

#include "verbs_slots.h"

#define API __attribute__((visibility("default")))
#define ONE_OF_ITS_OWN __attribute__((noinline))

loopback_open_fn loopback_open API;
loopback_qp_fn loopback_qp API;
loopback_cq_ex_fn loopback_cq_ex API;

/* Work requests that are done and not polled for. */
static int done;

static int post(int cnt)
{
	done += cnt;
	return 0;
}

static int poll(int max)
{
	int n = done < max ? done : max;

	done -= n;
	return n;
}

/* The same functions, three times: compilers would make one of functions that do the same, so each adds its own number. */
#define FUNCTIONS(n)                                                              \
	static volatile int calls_##n;                                            \
	static int post_send_##n(struct ibv_qp *qp, struct ibv_send_wr *wr,       \
				 struct ibv_send_wr **bad)                        \
	{                                                                         \
		(void)qp, (void)wr, (void)bad;                                    \
		calls_##n += 1;                                                   \
		return post(1);                                                   \
	}                                                                         \
	static int post_recv_##n(struct ibv_qp *qp, struct ibv_recv_wr *wr,       \
				 struct ibv_recv_wr **bad)                        \
	{                                                                         \
		(void)qp, (void)wr, (void)bad;                                    \
		calls_##n += 2;                                                   \
		return post(1);                                                   \
	}                                                                         \
	static int post_srq_recv_##n(struct ibv_srq *srq, struct ibv_recv_wr *wr, \
				     struct ibv_recv_wr **bad)                    \
	{                                                                         \
		(void)srq, (void)wr, (void)bad;                                   \
		calls_##n += 3;                                                   \
		return post(1);                                                   \
	}                                                                         \
	static int poll_cq_##n(struct ibv_cq *cq, int max, struct ibv_wc *wc)     \
	{                                                                         \
		(void)cq, (void)wc;                                               \
		calls_##n += 4;                                                   \
		return poll(max);                                                 \
	}

#define SLOTS(n)                                                  \
	[SLOT_POST_SEND] = (verbs_any_fn *)post_send_##n,         \
	[SLOT_POST_RECV] = (verbs_any_fn *)post_recv_##n,         \
	[SLOT_POST_SRQ_RECV] = (verbs_any_fn *)post_srq_recv_##n, \
	[SLOT_POLL_CQ] = (verbs_any_fn *)poll_cq_##n

FUNCTIONS(first)
FUNCTIONS(second)
FUNCTIONS(built)

static const struct verbs_ops first = {.slot = {SLOTS(first)}};
static const struct verbs_ops second = {.slot = {SLOTS(second)}};

ONE_OF_ITS_OWN static void built_hand_over(struct verbs_context *v)
{
	struct verbs_ops *ops = calloc(1, sizeof(*ops));

	*ops = (struct verbs_ops){.slot = {SLOTS(built)}};
	verbs_set_ops(v, ops);
	free(ops);
}

struct ibv_context *loopback_open(enum loopback_way way)
{
	struct verbs_context *v = verbs_context_new();

	if (way == LOOPBACK_BUILT)
		built_hand_over(v);
	else
		verbs_set_ops(v, way == LOOPBACK_FIRST ? &first : &second);
	return &v->context;
}

/* ---- queue pairs that are called ---- */

static volatile int wr_calls;

static void wr_start(struct ibv_qp_ex *qp)
{
	(void)qp;
	wr_calls += 1;
}

static void wr_send(struct ibv_qp_ex *qp)
{
	(void)qp;
	wr_calls += 2;
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	(void)qp, (void)rkey, (void)remote_addr;
	wr_calls += 3;
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	(void)qp, (void)lkey, (void)addr, (void)length;
	wr_calls += 4;
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	(void)qp;
	wr_calls += 5;
	return post(1);
}

struct ibv_qp *loopback_qp(struct ibv_context *context)
{
	struct verbs_loopback_qp *qp = calloc(1, sizeof(*qp));

	qp->ex.qp_base.context = context;
	qp->comp_mask = VERBS_QP_ALL;
	qp->ex.wr_start = wr_start;
	qp->ex.wr_send = wr_send;
	qp->ex.wr_rdma_write = wr_rdma_write;
	qp->ex.wr_set_sge = wr_set_sge;
	qp->ex.wr_complete = wr_complete;
	return &qp->ex.qp_base;
}

/* ---- completion queues that are called ---- */

static volatile int cq_calls;

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	(void)cq, (void)attr;
	cq_calls += 1;
	return 0;
}

static int next_poll(struct ibv_cq_ex *cq)
{
	(void)cq;
	cq_calls += 2;
	return poll(1) ? 0 : 2; /* ENOENT: no more */
}

static void end_poll(struct ibv_cq_ex *cq)
{
	(void)cq;
	cq_calls += 3;
}

struct ibv_cq_ex *loopback_cq_ex(struct ibv_context *context)
{
	struct ibv_cq_ex *cq = calloc(1, sizeof(*cq));

	cq->start_poll = start_poll;
	cq->next_poll = next_poll;
	cq->end_poll = end_poll;
	verbs_init_cq(ibv_cq_ex_to_cq(cq), context, NULL, NULL);
	return cq;
}
