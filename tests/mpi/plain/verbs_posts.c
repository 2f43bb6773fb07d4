/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * verbs_posts PROVIDER MODE [ARGUMENT…]: a program's actions at an adapter whose provider is
 * verbs_loopback.c. Prints what a trace must contain:
 *
 *	find [wait]	calls prime numbers of its functions, in each of the ways in which they are
 *			passed, by libibverbs' own inline functions: lines "function calls". wait:
 *			prints "ready" when everything has been passed, and goes on at the end of
 *			its input
 *	pieces		requests whose memory pieces are before them, after them and far away,
 *			aligned or not, where readable memory begins or ends; and lists of several
 *			requests: requests and bytes of each post
 *	cost SAMPLES ROUNDS
 *			time to post a request of one piece, in one line like call_cost: ns per call
 *			(median of the samples), the smallest sample, total number of calls
 *
 * With a device called loop0:
 *	ends		requests to InfiniBand and Ethernet ports: operation, bytes, queue pair,
 *			port, destination
 *	lists		lists of requests, up to the longest that is counted: function, requests,
 *			bytes
 *	built		requests that calls build, three at a time: operation, bytes, number of each
 *	extended	an extended completion queue: function, number, status of each completion;
 *			then polls that found nothing
 *	empty N		N polls that find nothing: whether the code of poll_cq equals its file,
 *			before and after
 */
#define EXPECT_WITHOUT_MPI
#include "../expect.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "verbs_abi.h"

#define CODE_BYTES 64
#define PAGE 4096
#define SAMPLES_MAX 1000

static loopback_open_fn *open_way;
static loopback_device_fn *make_device;
static loopback_qp_fn *make_qp;
static loopback_cq_ex_fn *make_cq;

static void provider_load(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);

	MUST(lib);
	MUST(*(void **)&open_way = dlsym(lib, "loopback_open"));
	MUST(*(void **)&make_device = dlsym(lib, "loopback_device"));
	MUST(*(void **)&make_qp = dlsym(lib, "loopback_qp"));
	MUST(*(void **)&make_cq = dlsym(lib, "loopback_cq_ex"));
}

static struct ibv_context *device_open(void)
{
	struct ibv_context *context = ibv_open_device(make_device("loop0"));

	MUST(context);
	return context;
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

/*
 * Posts a list of that many requests, whose pieces have first, first + 1, … bytes. Returns the
 * total bytes.
 */
static uint64_t send_list(struct ibv_qp *qp, uint32_t cnt, uint32_t first,
			  const struct ibv_send_wr *like)
{
	struct ibv_send_wr *wr = calloc(cnt, sizeof(*wr)), *bad;
	struct ibv_sge *piece = calloc(cnt, sizeof(*piece));
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < cnt; i++) {
		piece[i].length = first + i;
		bytes += piece[i].length;
		wr[i] = *like;
		wr[i].wr_id = i;
		wr[i].sg_list = &piece[i];
		wr[i].num_sge = 1;
		wr[i].next = i + 1 < cnt ? &wr[i + 1] : NULL;
	}
	MUST(!ibv_post_send(qp, wr, &bad));
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
	MUST(!ibv_post_recv(qp, wr, &bad));
	free(wr);
	return 4096 * (uint64_t)cnt;
}

/* ---- which functions there are ---- */

/* Different numbers of calls for each function and way. */
static const int primes[][4] = {{101, 31, 7, 3}, {211, 41, 11, 5}, {307, 53, 13, 17}};

static void post_ways(struct ibv_context *const *context)
{
	static const char *const names[] = {"post_send", "post_recv", "post_srq_recv", "poll_cq"};
	int n[4] = {0};

	for (int way = 0; way <= LOOPBACK_BUILT; way++) {
		struct ibv_qp qp = {.context = context[way]};
		struct ibv_srq srq = {.context = context[way]};
		struct ibv_cq cq = {.context = context[way]};
		struct ibv_send_wr send = {0}, *bad_send;
		struct ibv_recv_wr recv = {0}, *bad_recv;
		struct ibv_wc wc;

		REPEAT(primes[way][0], ibv_post_send(&qp, &send, &bad_send));
		REPEAT(primes[way][1], ibv_post_recv(&qp, &recv, &bad_recv));
		REPEAT(primes[way][2], ibv_post_srq_recv(&srq, &recv, &bad_recv));
		REPEAT(primes[way][3], ibv_poll_cq(&cq, 1, &wc));
		for (int i = 0; i < 4; i++)
			n[i] += primes[way][i];
	}
	for (int i = 0; i < 4; i++)
		printf("%s %d\n", names[i], n[i]);
}

static void call_all(struct ibv_qp_ex *qp, struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = {0};

	for (int i = 0; i < 19; i++) {
		ibv_wr_start(qp);
		if (i < 13)
			ibv_wr_send(qp);
		else
			ibv_wr_rdma_write(qp, 1, 2);
		ibv_wr_set_sge(qp, 1, 2, 3);
		ibv_wr_complete(qp);
	}
	printf("wr_start 19\nwr_send 13\nwr_rdma_write 6\nwr_set_sge 19\nwr_complete 19\n");
	for (int i = 0; i < 5; i++) {
		ibv_start_poll(cq, &attr);
		REPEAT(3, ibv_next_poll(cq));
		ibv_end_poll(cq);
	}
	printf("cq_start_poll 5\ncq_next_poll 15\ncq_end_poll 5\n");
}

static void find(char **args)
{
	bool wait = args[0];
	struct ibv_context *context[LOOPBACK_BUILT + 1];
	struct ibv_qp_ex *qp;
	struct ibv_cq_ex *cq;

	for (int way = 0; way <= LOOPBACK_BUILT; way++)
		context[way] = open_way((enum loopback_way)way);
	qp = ibv_qp_to_qp_ex(make_qp(context[LOOPBACK_FIRST]));
	cq = make_cq(context[LOOPBACK_FIRST]);
	MUST(qp);
	if (wait)
		fprintf(stderr, "ready\n");
	while (wait && getchar() != EOF)
		;
	post_ways(context);
	call_all(qp, cq);
}

/* ---- where pieces of memory lie ---- */

static uint32_t length = 1; /* of the next piece */

/* Posts one request at a place in memory, with its pieces at another. */
static void post_at(struct ibv_qp *qp, char *request, char *pieces, int cnt)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .num_sge = cnt, .sg_list = (void *)pieces};
	struct ibv_send_wr *bad;
	struct ibv_sge piece;
	unsigned int bytes = 0;

	memset(pieces, 0x55, cnt * sizeof(piece));
	for (int i = 0; i < cnt; i++) {
		piece = (struct ibv_sge){.addr = 0x1000, .length = length++, .lkey = 1};
		bytes += piece.length;
		memcpy(pieces + i * sizeof(piece), &piece, sizeof(piece));
	}
	memcpy(request, &wr, sizeof(wr));
	MUST(!ibv_post_send(qp, (struct ibv_send_wr *)request, &bad));
	printf("1 %u\n", bytes);
}

static void pieces(char **args)
{
	struct ibv_qp qp = {
		.qp_num = 17, .qp_type = IBV_QPT_RC, .context = open_way(LOOPBACK_FIRST)};
	char *memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	char *begin = memory + PAGE, *middle = begin + PAGE / 2, *end = begin + PAGE;
	static const uint32_t lists[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 41};
	const struct ibv_send_wr like = {.opcode = IBV_WR_SEND};
	int size = sizeof(struct ibv_send_wr);

	MUST(memory != MAP_FAILED && !mprotect(memory, PAGE, PROT_NONE) &&
	     !mprotect(end, PAGE, PROT_NONE));
	for (int off = 16; off < 64; off += 4) {
		post_at(&qp, middle, middle - off, 1);
		post_at(&qp, middle, middle + size - 16 + off, 1);
	}
	post_at(&qp, middle, begin, 1);
	post_at(&qp, middle, begin, 0);
	post_at(&qp, middle, middle - 32, 2);
	post_at(&qp, middle, middle + size, 2);
	for (int off = 0; off <= 64; off += 16) { /* at the edges of readable memory */
		post_at(&qp, begin + off, begin + off + size, 1);
		post_at(&qp, end - size - off, end - size - off - 16, 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		printf("%u %" PRIu64 "\n", lists[i], send_list(&qp, lists[i], length, &like));
		length += lists[i];
	}
}

/* ---- what a post costs ---- */

static void cost(char **args)
{
	int samples = atoi(args[0]);
	unsigned long rounds = strtoul(args[1], NULL, 10);
	struct ibv_qp qp = {
		.qp_num = 17, .qp_type = IBV_QPT_RC, .context = open_way(LOOPBACK_FIRST)};
	struct ibv_sge piece = {.addr = 0x1000, .length = 64, .lkey = 1};
	struct ibv_send_wr wr = {.sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	double ns[SAMPLES_MAX], typical;

	MUST(samples >= 1 && samples <= SAMPLES_MAX && rounds >= 1);
	for (int s = -2; s < samples; s++) { /* two samples warm up */
		unsigned long long begin = now_ns();

		for (unsigned long i = 0; i < rounds; i++) {
			wr.wr_id = i;
			MUST(!ibv_post_send(&qp, &wr, &bad));
		}
		ns[s < 0 ? 0 : s] = (double)(now_ns() - begin) / (double)rounds;
	}
	typical = median(ns, samples);
	printf("%.1f %.1f %lu\n", typical, ns[0], rounds * (samples + 2));
}

/* ---- ends ---- */

static void ends(char **args)
{
	static const char gid[] = "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x09\0\x02";
	static const struct {
		enum ibv_qp_type type;
		enum ibv_wr_opcode op;
		int port, lid, routed; /* port 0: never brought up */
		const char *wanted;
	} pairs[] = {
		{IBV_QPT_RC, IBV_WR_SEND, 1, 9, 0,
		 "SEND 100 0x11 loop0:1 lid 7 qp 17 to lid 9 qp 81"},
		{IBV_QPT_RC, IBV_WR_RDMA_WRITE, 1, 49151, 1,
		 "RDMA_WRITE 100 0x12 loop0:1 lid 7 qp 18 to lid 49151 qp 82"},
		{IBV_QPT_RC, IBV_WR_RDMA_READ, 2, 0xc0de, 1,
		 "RDMA_READ 100 0x13 loop0:2 10.9.0.1 qp 19 to 10.9.0.2 qp 83"},
		{IBV_QPT_UC, IBV_WR_RDMA_WRITE, 3, 12, 0,
		 "RDMA_WRITE 100 0x14 loop0:3 - to lid 12 qp 84"},
		{IBV_QPT_UD, IBV_WR_SEND, 1, 9, 0,
		 "SEND 100 0x15 loop0:1 lid 7 qp 21 to lid 9 qp 85"},
		{IBV_QPT_RC, IBV_WR_SEND, 0, 0, 0, "SEND 100 0x16 - - to -"},
	};
	struct ibv_context *context = device_open();
	struct ibv_pd pd = {.context = context};

	for (uint32_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct ibv_qp *qp = queue_pair(context, 17 + i, pairs[i].type);
		struct ibv_ah_attr to = {.dlid = pairs[i].lid, .port_num = pairs[i].port};
		struct ibv_send_wr wr = {.opcode = pairs[i].op};

		if (pairs[i].routed) {
			memcpy(to.grh.dgid.raw, gid, sizeof(to.grh.dgid.raw));
			to.is_global = 1;
		}
		if (pairs[i].type == IBV_QPT_UD) {
			bring_up(qp, 1);
			wr.wr.ud.ah = ibv_create_ah(&pd, &to);
			wr.wr.ud.remote_qpn = 81 + i;
		} else if (to.port_num) {
			connect_to(qp, &to, 81 + i);
		}
		for (int n = 0; n < 7; n++)
			send_list(qp, 1, 100, &wr);
		puts(pairs[i].wanted);
	}
}

/* ---- lists ---- */

/* The bytes of the first 248 requests of a list are known; up to 4096 more are counted. */
static void lists(char **args)
{
	struct ibv_context *context = device_open();
	static const uint32_t lengths[] = {1, 7, 8, 9, 24, 25, 247, 248, 249, 4096, 4344};
	struct ibv_qp *qp = queue_pair(context, 17, IBV_QPT_RC);
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		uint32_t n = lengths[i];
		uint64_t sent = send_list(qp, n, 100, &send), room = receive_list(qp, n);

		if (n <= 248)
			printf("post_send %u %" PRIu64 "\npost_recv %u %" PRIu64 "\n", n, sent, n,
			       room);
		else
			printf("post_send %u unknown\npost_recv %u unknown\n", n, n);
	}
}

/* ---- requests that calls build ---- */

static void built(char **args)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(queue_pair(device_open(), 17, IBV_QPT_RC));

	for (uint32_t i = 0; i < 11 * 3; i++) {
		if (i % 3 == 0)
			ibv_wr_start(qp);
		qp->wr_id = 0x5a0000000000 + i;
		if (i % 2)
			ibv_wr_rdma_write(qp, 1, 0x4000);
		else
			ibv_wr_send(qp);
		ibv_wr_set_sge(qp, 1, 0x1000, 100 + i);
		if (i % 3 == 2)
			MUST(!ibv_wr_complete(qp));
		printf("%s %u 0x%" PRIx64 "\n", i % 2 ? "RDMA_WRITE" : "SEND", 100 + i, qp->wr_id);
	}
}

/* ---- extended completion queues ---- */

static int polled(const char *function, int ret, const struct ibv_cq_ex *cq)
{
	if (!ret)
		printf("%s 0x%" PRIx64 " %s\n", function, cq->wr_id,
		       cq->status == IBV_WC_SUCCESS	  ? "SUCCESS" :
		       cq->status == IBV_WC_LOC_QP_OP_ERR ? "LOC_QP_OP_ERR" :
							    "unexpected");
	return ret;
}

static void extended(char **args)
{
	struct ibv_context *context = device_open();
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
		if (!polled("cq_start_poll", ibv_start_poll(cq, &attr), cq)) {
			while (!polled("cq_next_poll", ibv_next_poll(cq), cq))
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

/* Returns whether a function's first instructions were changed, as probes do. */
static const char *code_state(void *function)
{
	unsigned char wanted[CODE_BYTES];
	FILE *file;
	Dl_info at;

	MUST(dladdr(function, &at) && (file = fopen(at.dli_fname, "r")));
	/* the provider's code has the same offset in its file as in memory */
	MUST(!fseek(file, (char *)function - (char *)at.dli_fbase, SEEK_SET) &&
	     fread(wanted, 1, CODE_BYTES, file) == CODE_BYTES);
	fclose(file);
	return memcmp(wanted, function, CODE_BYTES) ? "probed" : "as in its file";
}

static void empty(char **args)
{
	unsigned long polls = strtoul(args[0], NULL, 10);
	struct ibv_context *context = device_open();
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
	static const struct mode modes[] = {{"find", find},   {"pieces", pieces},
					    {"ends", ends},   {"lists", lists},
					    {"built", built}, {"extended", extended},
					    {"empty", empty}, {"cost", cost}};

	MUST(argc > 2);
	provider_load(argv[1]);
	MODE_RUN(modes, argv + 2);
	return 0;
}
