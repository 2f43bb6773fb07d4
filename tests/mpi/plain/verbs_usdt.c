/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * verbs_usdt [ROUNDS]: a program that is its own provider of verbs, with the static probes that rdma-core's mlx5 and rxe have since release 62 if
 * they are built so: the same names and arguments, passed once for each request that is taken. Prints what was taken, in lines
 * "probe operation bytes queue-pair device requests" ("-": the probe does not tell the bytes). ROUNDS: posts as many single requests of rxe
 * instead, and prints how many nanoseconds each took.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sdt.h>
#include <time.h>

#include "verbs_abi.h"
#include "verbs_slots.h"

#define PIECES_MAX 3 /* of a request */

/* As libibverbs has it in those releases: a function. */
__attribute__((noinline)) static const char *opcode_name(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
		return "rdma-write";
	case IBV_WR_SEND:
		return "send";
	case IBV_WR_RDMA_READ:
		return "rdma-read";
	default:
		return "unknown";
	}
}

static int mlx5_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	for (; wr; wr = wr->next) {
		if (wr->num_sge > PIECES_MAX) {
			*bad = wr;
			return ENOMEM;
		}
		STAP_PROBE4(rdma_core_mlx5, post_send, qp->context->device->name, qp->qp_num,
			    opcode_name(wr->opcode), wr->num_sge);
	}
	return 0;
}

static int rxe_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	for (; wr; wr = wr->next) {
		uint64_t length = 0;

		if (wr->num_sge > PIECES_MAX) {
			*bad = wr;
			return ENOMEM;
		}
		for (int i = 0; i < wr->num_sge; i++)
			length += wr->sg_list[i].length;
		STAP_PROBE4(rdma_core_rxe, post_send, qp->context->device->name, qp->qp_num,
			    opcode_name(wr->opcode), length);
	}
	return 0;
}

static const struct verbs_ops mlx5 = {.slot = {[SLOT_POST_SEND] = (verbs_any_fn *)mlx5_post_send}};
static const struct verbs_ops rxe = {.slot = {[SLOT_POST_SEND] = (verbs_any_fn *)rxe_post_send}};

/* Of rxe if not of mlx5. */
static struct ibv_qp queue_make(bool of_mlx5, const char *device, uint32_t num)
{
	struct verbs_context *v = verbs_context_new();

	v->context.device = calloc(1, sizeof(*v->context.device));
	strcpy(v->context.device->name, device);
	verbs_set_ops(v, of_mlx5 ? &mlx5 : &rxe);
	return (struct ibv_qp){.context = &v->context, .qp_num = num, .qp_type = IBV_QPT_RC};
}

/* Posts a request so many times. */
static void post(struct ibv_qp *qp, int cnt, enum ibv_wr_opcode opcode, int pieces, uint32_t bytes)
{
	struct ibv_sge piece[PIECES_MAX] = {{.length = bytes}, {.length = 1}, {.length = 1}};
	struct ibv_send_wr wr = {.sg_list = piece, .num_sge = pieces, .opcode = opcode}, *bad;

	for (int i = 0; i < cnt; i++)
		if (ibv_post_send(qp, &wr, &bad))
			exit(1);
}

/* Of three requests the third one is refused. */
static void post_refused(struct ibv_qp *qp)
{
	struct ibv_sge piece = {.length = 8};
	struct ibv_send_wr wr[3], *bad;

	for (int i = 0; i < 3; i++)
		wr[i] = (struct ibv_send_wr){.next = i < 2 ? &wr[i + 1] : NULL,
					     .sg_list = &piece,
					     .num_sge = i < 2 ? 1 : PIECES_MAX + 1,
					     .opcode = IBV_WR_SEND};
	if (ibv_post_send(qp, wr, &bad) != ENOMEM || bad != &wr[2])
		exit(1);
}

static void post_all(struct ibv_qp *qp)
{
	post(qp, 101, IBV_WR_SEND, 1, 64);
	post(qp, 53, IBV_WR_RDMA_WRITE, 3, 1 << 20);
	post(qp, 17, IBV_WR_RDMA_READ, 2, 4096);
	post(qp, 7, IBV_WR_RDMA_WRITE, 0, 0);
	post_refused(qp);
}

static void book(const char *probe, const char *op, const char *bytes, const struct ibv_qp *qp,
		 int cnt)
{
	printf("%s\t%s\t%s\t%u\t%s\t%d\n", probe, op, bytes, qp->qp_num, qp->context->device->name,
	       cnt);
}

static void rounds_time(struct ibv_qp *qp, int cnt)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	post(qp, cnt, IBV_WR_SEND, 1, 64);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.1f\n", ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / cnt);
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
	book("rdma_core_mlx5_post_send", "SEND", "-", &a, 103);
	book("rdma_core_mlx5_post_send", "RDMA_WRITE", "-", &a, 53);
	book("rdma_core_mlx5_post_send", "RDMA_READ", "-", &a, 17);
	book("rdma_core_mlx5_post_send", "RDMA_WRITE", "0", &a, 7);
	book("rdma_core_rxe_post_send", "SEND", "64", &b, 101);
	book("rdma_core_rxe_post_send", "SEND", "8", &b, 2);
	book("rdma_core_rxe_post_send", "RDMA_WRITE", "1048578", &b, 53);
	book("rdma_core_rxe_post_send", "RDMA_WRITE", "0", &b, 7);
	book("rdma_core_rxe_post_send", "RDMA_READ", "4097", &b, 17);
	return 0;
}
