/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * verbs_posts PROVIDER ends | lists | extended | empty N: what a program does at an adapter whose provider is verbs_loopback.c, called
 * loop0. Prints what a trace must say of it:
 *	ends		of requests to ports of InfiniBand and of Ethernet: operation, bytes, queue pair, port, where to
 *	lists		of lists of requests, up to the longest that is counted: function, requests, bytes
 *	extended	of an extended completion queue: function, number, status of each completion; then polls that found nothing
 *	empty N		of N polls that find nothing: whether the code of poll_cq is as in its file, before and after
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "verbs_loopback.h"

#define CODE_BYTES 64

static loopback_device_fn *make_device;
static loopback_qp_fn *make_qp;
static loopback_cq_ex_fn *make_cq;

static void *must(void *symbol, const char *what)
{
	if (!symbol) {
		fprintf(stderr, "verbs_posts: %s: %s\n", what, dlerror());
		exit(2);
	}
	return symbol;
}

static struct ibv_context *device_open(const char *provider)
{
	void *lib = must(dlopen(provider, RTLD_NOW), provider);

	*(void **)&make_device = must(dlsym(lib, "loopback_device"), provider);
	*(void **)&make_qp = must(dlsym(lib, "loopback_qp"), provider);
	*(void **)&make_cq = must(dlsym(lib, "loopback_cq_ex"), provider);
	return must(ibv_open_device(make_device("loop0")), "no device");
}

static struct ibv_qp *queue_pair(struct ibv_context *context, uint32_t num, enum ibv_qp_type type)
{
	struct ibv_qp *qp = make_qp(context);

	qp->qp_num = num;
	qp->qp_type = type;
	return qp;
}

static void bring_up(struct ibv_qp *qp, uint8_t port)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = port};

	ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT);
}

static void connect_to(struct ibv_qp *qp, const struct ibv_ah_attr *to, uint32_t num)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR, .ah_attr = *to, .dest_qp_num = num};

	bring_up(qp, to->port_num);
	ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN);
}

/* A list of that many requests, which together have as many bytes as it returns. */
static uint64_t send_list(struct ibv_qp *qp, uint32_t cnt, const struct ibv_send_wr *like)
{
	struct ibv_send_wr *wr = calloc(cnt, sizeof(*wr)), *bad;
	struct ibv_sge *piece = calloc(cnt, sizeof(*piece));
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < cnt; i++) {
		piece[i].length = 100 + i;
		bytes += piece[i].length;
		wr[i] = *like;
		wr[i].wr_id = i;
		wr[i].sg_list = &piece[i];
		wr[i].num_sge = 1;
		wr[i].next = i + 1 < cnt ? &wr[i + 1] : NULL;
	}
	if (ibv_post_send(qp, wr, &bad))
		exit(1);
	free(wr);
	free(piece);
	return bytes;
}

static uint64_t receive_list(struct ibv_qp *qp, uint32_t cnt)
{
	struct ibv_recv_wr *wr = calloc(cnt, sizeof(*wr)), *bad;
	struct ibv_sge piece = {.length = 4096};

	for (uint32_t i = 0; i < cnt; i++)
		wr[i] = (struct ibv_recv_wr){.wr_id = i,
					     .sg_list = &piece,
					     .num_sge = 1,
					     .next = i + 1 < cnt ? &wr[i + 1] : NULL};
	if (ibv_post_recv(qp, wr, &bad))
		exit(1);
	free(wr);
	return 4096 * (uint64_t)cnt;
}

/* ---- ends ---- */

static void set_gid(struct ibv_ah_attr *to, const char *bytes)
{
	memcpy(to->grh.dgid.raw, bytes, sizeof(to->grh.dgid.raw));
	to->is_global = 1;
}

static void ends(struct ibv_context *context)
{
	static const char gid[] = "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x09\0\x02";
	struct ibv_ah_attr lid = {.dlid = 9, .port_num = 1}, both = {.dlid = 49151, .port_num = 1},
			   ethernet = {.dlid = 0xc0de, .port_num = 2},
			   elsewhere = {.dlid = 12, .port_num = 3};
	struct ibv_qp *rc = queue_pair(context, 17, IBV_QPT_RC),
		      *routed = queue_pair(context, 18, IBV_QPT_RC),
		      *roce = queue_pair(context, 19, IBV_QPT_RC),
		      *ud = queue_pair(context, 20, IBV_QPT_UD),
		      *unknown = queue_pair(context, 21, IBV_QPT_UC),
		      *never = queue_pair(context, 22, IBV_QPT_RC);
	struct ibv_pd pd = {.context = context};
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND}, write = {.opcode = IBV_WR_RDMA_WRITE},
			   read = {.opcode = IBV_WR_RDMA_READ}, datagram = send;

	set_gid(&both, gid);
	set_gid(&ethernet, gid);
	connect_to(rc, &lid, 81);
	connect_to(routed, &both, 82);
	connect_to(roce, &ethernet, 83);
	connect_to(unknown, &elsewhere, 84);
	bring_up(ud, 1);
	datagram.wr.ud.ah = must(ibv_create_ah(&pd, &lid), "an address");
	datagram.wr.ud.remote_qpn = 85;
	for (int i = 0; i < 7; i++) {
		send_list(rc, 1, &send);
		send_list(routed, 1, &write);
		send_list(roce, 1, &read);
		send_list(ud, 1, &datagram);
		send_list(unknown, 1, &write);
		send_list(never, 1, &send);
	}
	printf("SEND 100 0x11 loop0:1 lid 7 qp 17 to lid 9 qp 81\n"
	       "RDMA_WRITE 100 0x12 loop0:1 lid 7 qp 18 to lid 49151 qp 82\n"
	       "RDMA_READ 100 0x13 loop0:2 10.9.0.1 qp 19 to 10.9.0.2 qp 83\n"
	       "SEND 100 0x14 loop0:1 lid 7 qp 20 to lid 9 qp 85\n"
	       "RDMA_WRITE 100 0x15 loop0:3 - to lid 12 qp 84\n"
	       "SEND 100 0x16 - - to -\n");
}

/* ---- lists ---- */

/* Of those up to the 248th the bytes are known; up to 4096 more are counted. */
static void lists(struct ibv_context *context)
{
	static const uint32_t lengths[] = {1, 7, 8, 9, 24, 25, 247, 248, 249, 4096, 4344};
	struct ibv_qp *qp = queue_pair(context, 17, IBV_QPT_RC);
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		uint32_t n = lengths[i];
		uint64_t sent = send_list(qp, n, &send), room = receive_list(qp, n);

		if (n <= 248)
			printf("post_send %u %" PRIu64 "\npost_recv %u %" PRIu64 "\n", n, sent, n,
			       room);
		else
			printf("post_send %u unknown\npost_recv %u unknown\n", n, n);
	}
}

/* ---- extended completion queues ---- */

static int told(const char *function, int ret, const struct ibv_cq_ex *cq)
{
	if (!ret)
		printf("%s 0x%" PRIx64 " %s\n", function, cq->wr_id,
		       cq->status == IBV_WC_SUCCESS	  ? "SUCCESS" :
		       cq->status == IBV_WC_LOC_QP_OP_ERR ? "LOC_QP_OP_ERR" :
							    "unexpected");
	return ret;
}

static void extended(struct ibv_context *context)
{
	struct ibv_cq_ex *cq = make_cq(context);
	struct ibv_qp *qp = queue_pair(context, 17, IBV_QPT_RC);
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad;
	int empty = 0;

	qp->send_cq = qp->recv_cq = ibv_cq_ex_to_cq(cq);
	bring_up(qp, 1);
	for (int round = 0; round < 13; round++) {
		for (int i = 0; i <= round; i++) {
			wr.wr_id = 0x5a0000000000 + 16 * round + i;
			wr.opcode = i % 5 == 3 ? IBV_WR_TSO : IBV_WR_SEND;
			ibv_post_send(qp, &wr, &bad);
		}
		if (!told("cq_start_poll", ibv_start_poll(cq, &attr), cq)) {
			while (!told("cq_next_poll", ibv_next_poll(cq), cq))
				;
			empty++;
			ibv_end_poll(cq);
		}
		for (int i = 0; i < 101; i++)
			empty += ibv_start_poll(cq, &attr) != 0;
	}
	printf("empty %d\n", empty);
}

/* ---- polls that find nothing ---- */

/* Probes change the first instructions of a function. */
static const char *code_state(void *function)
{
	unsigned char wanted[CODE_BYTES];
	FILE *file;
	Dl_info at;

	must((void *)(intptr_t)dladdr(function, &at), "code");
	file = must(fopen(at.dli_fname, "r"), at.dli_fname);
	/* the provider's code lies in its file where it lies in memory */
	if (fseek(file, (char *)function - (char *)at.dli_fbase, SEEK_SET) ||
	    fread(wanted, 1, CODE_BYTES, file) != CODE_BYTES)
		exit(2);
	fclose(file);
	return memcmp(wanted, function, CODE_BYTES) ? "probed" : "as in its file";
}

static void empty(struct ibv_context *context, unsigned long polls)
{
	struct ibv_cq cq = {.context = context};
	const char *before = code_state((void *)context->ops.poll_cq);
	unsigned long found = 0;
	struct ibv_wc wc;

	for (unsigned long i = 0; i < polls; i++)
		found += ibv_poll_cq(&cq, 1, &wc) != 0;
	printf("%lu polls, %lu found something\n", polls, found);
	printf("poll_cq: %s, %s\n", before, code_state((void *)context->ops.poll_cq));
}

int main(int argc, char **argv)
{
	struct ibv_context *context;

	if (argc < 3)
		return 2;
	context = device_open(argv[1]);
	if (!strcmp(argv[2], "ends"))
		ends(context);
	else if (!strcmp(argv[2], "lists"))
		lists(context);
	else if (!strcmp(argv[2], "extended"))
		extended(context);
	else if (!strcmp(argv[2], "empty") && argc > 3)
		empty(context, strtoul(argv[3], NULL, 10));
	else
		return 2;
	return 0;
}
