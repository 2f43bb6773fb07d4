/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A verbs provider without an adapter: posts complete at once. It passes its functions to the real
 * libibverbs as real providers do, and exports none of them.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "verbs_abi.h"
#include "verbs_slots.h"

#define API __attribute__((visibility("default")))
#define ONE_OF_ITS_OWN __attribute__((noinline))

loopback_open_fn loopback_open API;
loopback_device_fn loopback_device API;
loopback_qp_fn loopback_qp API;
loopback_cq_ex_fn loopback_cq_ex API;

/* Completions that are not polled yet; if there are too many, the oldest are dropped. */
#define DONE_MAX 8192
static struct ibv_wc done[DONE_MAX];
static unsigned int done_begin, done_cnt;

static void finish(uint64_t id, enum ibv_wc_opcode opcode, enum ibv_wc_status status)
{
	done[(done_begin + done_cnt) % DONE_MAX] =
		(struct ibv_wc){.wr_id = id, .opcode = opcode, .status = status};
	if (done_cnt < DONE_MAX)
		done_cnt++;
	else
		done_begin = (done_begin + 1) % DONE_MAX;
}

/* This adapter does not support every operation. */
static int send_all(const struct ibv_send_wr *wr)
{
	for (; wr; wr = wr->next)
		finish(wr->wr_id, IBV_WC_SEND,
		       wr->opcode == IBV_WR_TSO ? IBV_WC_LOC_QP_OP_ERR : IBV_WC_SUCCESS);
	return 0;
}

static int receive_all(const struct ibv_recv_wr *wr)
{
	for (; wr; wr = wr->next)
		finish(wr->wr_id, IBV_WC_RECV, IBV_WC_SUCCESS);
	return 0;
}

static int poll(int max, struct ibv_wc *wc)
{
	int n = 0;

	for (; n < max && done_cnt; n++, done_cnt--) {
		wc[n] = done[done_begin];
		done_begin = (done_begin + 1) % DONE_MAX;
	}
	return n;
}

#define POST(name, count, all, queue_type, wr_type)                                         \
	static int name(struct queue_type *queue, struct wr_type *wr, struct wr_type **bad) \
	{                                                                                   \
		count;                                                                      \
		return all(wr);                                                             \
	}

/*
 * The same functions three times. Compilers would merge identical functions, so each adds its own
 * number.
 */
#define FUNCTIONS(n)                                                               \
	static volatile int calls_##n;                                             \
	POST(post_send_##n, calls_##n += 1, send_all, ibv_qp, ibv_send_wr)         \
	POST(post_recv_##n, calls_##n += 2, receive_all, ibv_qp, ibv_recv_wr)      \
	POST(post_srq_recv_##n, calls_##n += 3, receive_all, ibv_srq, ibv_recv_wr) \
	static int poll_cq_##n(struct ibv_cq *cq, int max, struct ibv_wc *wc)      \
	{                                                                          \
		calls_##n += 4;                                                    \
		return poll(max, wc);                                              \
	}

#define SLOTS(n)                                                  \
	[SLOT_POST_SEND] = (verbs_any_fn *)post_send_##n,         \
	[SLOT_POST_RECV] = (verbs_any_fn *)post_recv_##n,         \
	[SLOT_POST_SRQ_RECV] = (verbs_any_fn *)post_srq_recv_##n, \
	[SLOT_POLL_CQ] = (verbs_any_fn *)poll_cq_##n

FUNCTIONS(first)
FUNCTIONS(second)
FUNCTIONS(built)

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return 0;
}

static struct ibv_ah *create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah = calloc(1, sizeof(*ah));

	ah->pd = pd;
	ah->context = pd->context;
	return ah;
}

static const struct verbs_ops first = {
	.slot = {SLOTS(first), [SLOT_MODIFY_QP] = (verbs_any_fn *)modify_qp,
		 [SLOT_CREATE_AH] = (verbs_any_fn *)create_ah}};
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

/* ---- a device ---- */

static struct verbs_context *context_make(struct ibv_device *device, int fd, void *private_data)
{
	return (struct verbs_context *)((char *)loopback_open(LOOPBACK_FIRST) -
					offsetof(struct verbs_context, context));
}

struct ibv_device *loopback_device(const char *name)
{
	struct verbs_driven_device *d = calloc(1, sizeof(*d));
	struct verbs_driver *driver = calloc(1, sizeof(*driver));

	for (int i = 0; i < VERBS_DRIVER_SLOTS; i++)
		driver->slot[i] = (verbs_any_fn *)context_make;
	d->driver = driver;
	strncpy(d->device.name, name, sizeof(d->device.name) - 1);
	return &d->device;
}

/* ---- queue pairs that are called ---- */

static volatile int wr_calls;

static void wr_start(struct ibv_qp_ex *qp)
{
	wr_calls += 1;
}

static void wr_send(struct ibv_qp_ex *qp)
{
	finish(qp->wr_id, IBV_WC_SEND, IBV_WC_SUCCESS);
	wr_calls += 2;
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	finish(qp->wr_id, IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS);
	wr_calls += 3;
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	wr_calls += 4;
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	wr_calls += 5;
	return 0;
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

static int next_of(struct ibv_cq_ex *cq)
{
	struct ibv_wc wc;

	if (!poll(1, &wc))
		return ENOENT;
	cq->wr_id = wc.wr_id;
	cq->status = wc.status;
	return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	cq_calls += 1;
	return next_of(cq);
}

static int next_poll(struct ibv_cq_ex *cq)
{
	cq_calls += 2;
	return next_of(cq);
}

static void end_poll(struct ibv_cq_ex *cq)
{
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
