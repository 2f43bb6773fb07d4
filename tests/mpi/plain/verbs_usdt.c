/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * verbs_usdt [ROUNDS]: a program that is its own verbs provider, with the static probes of
 * rdma-core's mlx5 and rxe. These have been there since release 62 if they are built with probes.
 * The names and arguments are the same, passed once for each accepted request. Prints the accepted
 * requests, in lines "probe operation bytes queue-pair device requests" ("-": the probe does not
 * have the bytes). ROUNDS: posts that many single requests of rxe instead, and prints the ns of
 * each.
 */
#define EXPECT_WITHOUT_MPI
#include "../expect.h"

#include <stdbool.h>
#include <sys/sdt.h>

#include "verbs_abi.h"
#include "verbs_slots.h"

#define PIECES_MAX 3 /* per request */

/* A function, as in libibverbs of those releases. */
__attribute__((noinline)) static const char *opcode_name(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND	   ? "send" :
	       opcode == IBV_WR_RDMA_WRITE ? "rdma-write" :
	       opcode == IBV_WR_RDMA_READ  ? "rdma-read" :
					     "unknown";
}

static uint64_t bytes_of(const struct ibv_send_wr *wr)
{
	uint64_t bytes = 0;

	for (int i = 0; i < wr->num_sge; i++)
		bytes += wr->sg_list[i].length;
	return bytes;
}

#define POST_SEND(of, pieces_or_bytes)                                                     \
	static int of##_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,               \
				  struct ibv_send_wr **bad)                                \
	{                                                                                  \
		for (; wr; wr = wr->next) {                                                \
			if (wr->num_sge > PIECES_MAX) {                                    \
				*bad = wr;                                                 \
				return ENOMEM;                                             \
			}                                                                  \
			STAP_PROBE4(rdma_core_##of, post_send, qp->context->device->name,  \
				    qp->qp_num, opcode_name(wr->opcode), pieces_or_bytes); \
		}                                                                          \
		return 0;                                                                  \
	}
POST_SEND(mlx5, wr->num_sge)
POST_SEND(rxe, bytes_of(wr))

static const struct verbs_ops mlx5 = {.slot = {[SLOT_POST_SEND] = (verbs_any_fn *)mlx5_post_send}};
static const struct verbs_ops rxe = {.slot = {[SLOT_POST_SEND] = (verbs_any_fn *)rxe_post_send}};

/* Makes a queue pair of mlx5 or of rxe. */
static struct ibv_qp queue_make(bool of_mlx5, const char *device, uint32_t num)
{
	struct verbs_context *v = verbs_context_new();

	v->context.device = calloc(1, sizeof(*v->context.device));
	strcpy(v->context.device->name, device);
	verbs_set_ops(v, of_mlx5 ? &mlx5 : &rxe);
	return (struct ibv_qp){.context = &v->context, .qp_num = num, .qp_type = IBV_QPT_RC};
}

/* Posts a request cnt times. */
static void post(struct ibv_qp *qp, int cnt, enum ibv_wr_opcode opcode, int pieces, uint32_t bytes)
{
	struct ibv_sge piece[PIECES_MAX] = {{.length = bytes}, {.length = 1}, {.length = 1}};
	struct ibv_send_wr wr = {.sg_list = piece, .num_sge = pieces, .opcode = opcode}, *bad;

	for (int i = 0; i < cnt; i++)
		MUST(!ibv_post_send(qp, &wr, &bad));
}

/* Posts three requests, of which the third is refused. */
static void post_refused(struct ibv_qp *qp)
{
	struct ibv_sge piece = {.length = 8};
	struct ibv_send_wr wr[3], *bad;

	for (int i = 0; i < 3; i++)
		wr[i] = (struct ibv_send_wr){.next = i < 2 ? &wr[i + 1] : NULL,
					     .sg_list = &piece,
					     .num_sge = i < 2 ? 1 : PIECES_MAX + 1,
					     .opcode = IBV_WR_SEND};
	MUST(ibv_post_send(qp, wr, &bad) == ENOMEM && bad == &wr[2]);
}

static void post_all(struct ibv_qp *qp)
{
	post(qp, 101, IBV_WR_SEND, 1, 64);
	post(qp, 53, IBV_WR_RDMA_WRITE, 3, 1 << 20);
	post(qp, 17, IBV_WR_RDMA_READ, 2, 4096);
	post(qp, 7, IBV_WR_RDMA_WRITE, 0, 0);
	post_refused(qp);
}

static void rounds_time(struct ibv_qp *qp, int cnt)
{
	unsigned long long begin = now_ns();

	post(qp, cnt, IBV_WR_SEND, 1, 64);
	printf("%.1f\n", (double)(now_ns() - begin) / cnt);
}

int main(int argc, char **argv)
{
	struct ibv_qp a = queue_make(true, "mlx5_7", 4711), b = queue_make(false, "rxe3", 815);

	if (argc > 1) {
		rounds_time(&b, atoi(argv[1]));
		return 0;
	}
	post_all(&a);
	post_all(&b);
	puts("rdma_core_mlx5_post_send\tSEND\t-\t4711\tmlx5_7\t103\n"
	     "rdma_core_mlx5_post_send\tRDMA_WRITE\t-\t4711\tmlx5_7\t53\n"
	     "rdma_core_mlx5_post_send\tRDMA_READ\t-\t4711\tmlx5_7\t17\n"
	     "rdma_core_mlx5_post_send\tRDMA_WRITE\t0\t4711\tmlx5_7\t7\n"
	     "rdma_core_rxe_post_send\tSEND\t64\t815\trxe3\t101\n"
	     "rdma_core_rxe_post_send\tSEND\t8\t815\trxe3\t2\n"
	     "rdma_core_rxe_post_send\tRDMA_WRITE\t1048578\t815\trxe3\t53\n"
	     "rdma_core_rxe_post_send\tRDMA_WRITE\t0\t815\trxe3\t7\n"
	     "rdma_core_rxe_post_send\tRDMA_READ\t4097\t815\trxe3\t17");
	return 0;
}
