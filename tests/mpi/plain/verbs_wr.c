/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * verbs_wr DEVICE GID_INDEX: posts to a real adapter by calls that build requests (ibv_wr_start …
 * ibv_wr_complete), from one of its queue pairs to another. Extended completion queues report
 * completions. Prints what a trace must contain, in order:
 *
 *	queues FROM TO			numbers of the queue pairs
 *	post OPERATION BYTES NUMBER
 *	completion FUNCTION NUMBER QUEUE
 *	empty N				polls that found nothing
 */
#define EXPECT_WITHOUT_MPI
#include "../expect.h"

#include <infiniband/verbs.h>
#include <inttypes.h>

#define PORT 1
#define BUFFER_BYTES 65536
#define BATCH 3 /* requests posted at once */
#define ROUNDS 11
#define DEPTH 64

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq_ex *sent, *received;
	struct ibv_qp *from, *to;
	struct ibv_qp_ex *by_calls;
	uint64_t *buffer, last_id, empty;
	union ibv_gid gid;
	uint8_t gid_index;
} all;

/* ---- setting up ---- */

static struct ibv_context *device_open(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return ibv_open_device(list[i]);
	return NULL;
}

static struct ibv_cq_ex *queue_make(void)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = DEPTH, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN};

	return ibv_create_cq_ex(all.context, &attr);
}

static struct ibv_qp *pair_make(struct ibv_cq_ex *cq)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = ibv_cq_ex_to_cq(cq),
		.recv_cq = ibv_cq_ex_to_cq(cq),
		.cap = {DEPTH, DEPTH, 1, 1, 64},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = all.pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE |
				  IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};

	return ibv_create_qp_ex(all.context, &attr);
}

static void connect_to(struct ibv_qp *qp, uint32_t num)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1, .port_num = PORT},
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	attr.ah_attr.grh.dgid = all.gid;
	attr.ah_attr.grh.sgid_index = all.gid_index;
	attr.ah_attr.grh.hop_limit = 1;
	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static void set_up(const char *device, uint8_t gid_index)
{
	all.gid_index = gid_index;
	MUST(all.context = device_open(device));
	MUST(!ibv_query_gid(all.context, PORT, gid_index, &all.gid));
	MUST(all.pd = ibv_alloc_pd(all.context));
	MUST(all.buffer = aligned_alloc(4096, BUFFER_BYTES));
	memset(all.buffer, 0, BUFFER_BYTES);
	MUST(all.mr = ibv_reg_mr(all.pd, all.buffer, BUFFER_BYTES,
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC));
	MUST((all.sent = queue_make()) && (all.received = queue_make()));
	MUST((all.from = pair_make(all.sent)) && (all.to = pair_make(all.received)));
	MUST(all.by_calls = ibv_qp_to_qp_ex(all.from));
	connect_to(all.from, all.to->qp_num);
	connect_to(all.to, all.from->qp_num);
	printf("queues %u %u\n", all.from->qp_num, all.to->qp_num);
}

/* ---- posts ---- */

static uint64_t post_report(const char *operation, uint32_t bytes)
{
	printf("post %s %u 0x%" PRIx64 "\n", operation, bytes, ++all.last_id);
	return all.last_id;
}

static void room_post(uint32_t bytes)
{
	struct ibv_sge piece = {(uintptr_t)all.buffer, bytes, all.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &piece, .num_sge = 1}, *bad;

	wr.wr_id = post_report("RECV", bytes);
	MUST(!ibv_post_recv(all.to, &wr, &bad));
}

/* The kinds of requests that calls build. */
enum kind { SEND, SEND_INLINE, WRITE, READ, ADD, KINDS };

static void request_build(enum kind kind, uint32_t bytes)
{
	static const char *const names[] = {"SEND", "SEND", "RDMA_WRITE", "RDMA_READ",
					    "ATOMIC_FETCH_AND_ADD"};
	struct ibv_qp_ex *qp = all.by_calls;
	uint64_t at = (uintptr_t)all.buffer;

	qp->wr_id = post_report(names[kind], bytes);
	qp->wr_flags = kind == SEND_INLINE ? IBV_SEND_INLINE : 0; /* soft-RoCE uses this flag */
	if (kind == WRITE)
		ibv_wr_rdma_write(qp, all.mr->rkey, at + 16384);
	else if (kind == READ)
		ibv_wr_rdma_read(qp, all.mr->rkey, at + 32768);
	else if (kind == ADD)
		ibv_wr_atomic_fetch_add(qp, all.mr->rkey, at, 1);
	else
		ibv_wr_send(qp);
	if (kind == SEND_INLINE)
		ibv_wr_set_inline_data(qp, all.buffer, bytes);
	else
		ibv_wr_set_sge(qp, all.mr->lkey, at + 8, bytes);
}

/* ---- completions ---- */

static int found(const char *function, int ret, struct ibv_cq_ex *cq)
{
	if (ret) {
		all.empty++;
		return 0;
	}
	MUST(cq->status == IBV_WC_SUCCESS);
	printf("completion %s 0x%" PRIx64 " %u\n", function, cq->wr_id,
	       cq == all.sent ? all.from->qp_num : all.to->qp_num);
	return 1;
}

/*
 * Takes completions one by one. rdma-core's soft-RoCE loses its place in a queue by an ibv_end_poll
 * after an ibv_next_poll that found nothing (its pull request 1512). So ibv_next_poll may only be
 * called where a completion certainly exists.
 */
static void wait_for(struct ibv_cq_ex *cq, int cnt)
{
	struct ibv_poll_cq_attr attr = {0};

	while (cnt > 0) {
		if (!found("cq_start_poll", ibv_start_poll(cq, &attr), cq)) {
			usleep(100); /* the adapter needs a CPU as well */
			continue;
		}
		cnt--;
		ibv_end_poll(cq);
	}
}

/*
 * Takes all completions at once, of requests that the other side has already reported as complete.
 */
static void take(struct ibv_cq_ex *cq, int cnt)
{
	struct ibv_poll_cq_attr attr = {0};
	int taken = found("cq_start_poll", ibv_start_poll(cq, &attr), cq);

	while (taken && taken < cnt && found("cq_next_poll", ibv_next_poll(cq), cq))
		taken++;
	MUST(taken == cnt);
	ibv_end_poll(cq);
}

/* Posts one batch of each kind. */
static void round_go(uint32_t round)
{
	static const uint32_t bytes[] = {200, 16, 9000, 3000, 8};

	for (enum kind kind = 0; kind < KINDS; kind++) {
		int receives = kind <= SEND_INLINE ? BATCH : 0;

		for (int i = 0; i < receives; i++)
			room_post(1024);
		ibv_wr_start(all.by_calls);
		for (int i = 0; i < BATCH; i++)
			request_build(kind, bytes[kind] + (kind == ADD ? 0 : round));
		MUST(!ibv_wr_complete(all.by_calls));
		wait_for(all.sent, BATCH);
		if (receives)
			take(all.received, receives);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	set_up(argv[1], (uint8_t)atoi(argv[2]));
	for (uint32_t round = 0; round < ROUNDS; round++)
		round_go(round);
	printf("empty %" PRIu64 "\n", all.empty);
	return 0;
}
