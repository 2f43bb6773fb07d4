/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * verbs_find PROVIDER [wait]: loads a provider (verbs_loopback.c) and calls prime numbers of its functions in each of the ways in which
 * it hands them over, by libibverbs' own inline functions. Prints how many of each, in lines "function calls". wait: says
 * "ready" when all has been handed over, and goes on when its input ends.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "verbs_loopback.h"

static struct {
	struct ibv_context *context[LOOPBACK_BUILT + 1];
	struct ibv_qp_ex *qp;
	struct ibv_cq_ex *cq;
} all;

/* Different numbers for each function and way. */
static const int primes[][4] = {{101, 31, 7, 3}, {211, 41, 11, 5}, {307, 53, 13, 17}};

static void *must(void *symbol, const char *what)
{
	if (!symbol) {
		fprintf(stderr, "verbs_find: %s: %s\n", what, dlerror());
		exit(2);
	}
	return symbol;
}

static void open_all(const char *provider)
{
	void *lib = must(dlopen(provider, RTLD_NOW), provider);
	loopback_open_fn *open;
	loopback_qp_fn *make_qp;
	loopback_cq_ex_fn *make_cq;

	*(void **)&open = must(dlsym(lib, "loopback_open"), provider);
	*(void **)&make_qp = must(dlsym(lib, "loopback_qp"), provider);
	*(void **)&make_cq = must(dlsym(lib, "loopback_cq_ex"), provider);
	for (int way = 0; way <= LOOPBACK_BUILT; way++)
		all.context[way] = open((enum loopback_way)way);
	all.qp = ibv_qp_to_qp_ex(make_qp(all.context[LOOPBACK_FIRST]));
	all.cq = make_cq(all.context[LOOPBACK_FIRST]);
	must(all.qp, "a queue pair");
}

static void post_all(void)
{
	int n[4] = {0};

	for (int way = 0; way <= LOOPBACK_BUILT; way++) {
		struct ibv_qp qp = {.context = all.context[way]};
		struct ibv_srq srq = {.context = all.context[way]};
		struct ibv_cq cq = {.context = all.context[way]};
		struct ibv_send_wr send = {0}, *bad_send;
		struct ibv_recv_wr recv = {0}, *bad_recv;
		struct ibv_wc wc;

		for (int i = 0; i < primes[way][0]; i++)
			ibv_post_send(&qp, &send, &bad_send);
		for (int i = 0; i < primes[way][1]; i++)
			ibv_post_recv(&qp, &recv, &bad_recv);
		for (int i = 0; i < primes[way][2]; i++)
			ibv_post_srq_recv(&srq, &recv, &bad_recv);
		for (int i = 0; i < primes[way][3]; i++)
			ibv_poll_cq(&cq, 1, &wc);
		for (int i = 0; i < 4; i++)
			n[i] += primes[way][i];
	}
	printf("post_send %d\npost_recv %d\npost_srq_recv %d\npoll_cq %d\n", n[0], n[1], n[2],
	       n[3]);
}

static void call_all(void)
{
	struct ibv_poll_cq_attr attr = {0};

	for (int i = 0; i < 19; i++) {
		ibv_wr_start(all.qp);
		if (i < 13)
			ibv_wr_send(all.qp);
		else
			ibv_wr_rdma_write(all.qp, 1, 2);
		ibv_wr_set_sge(all.qp, 1, 2, 3);
		ibv_wr_complete(all.qp);
	}
	printf("wr_start 19\nwr_send 13\nwr_rdma_write 6\nwr_set_sge 19\nwr_complete 19\n");
	for (int i = 0; i < 5; i++) {
		ibv_start_poll(all.cq, &attr);
		for (int j = 0; j < 3; j++)
			ibv_next_poll(all.cq);
		ibv_end_poll(all.cq);
	}
	printf("cq_start_poll 5\ncq_next_poll 15\ncq_end_poll 5\n");
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	open_all(argv[1]);
	if (argc > 2) {
		fprintf(stderr, "ready\n");
		while (getchar() != EOF)
			;
	}
	post_all();
	call_all();
	return 0;
}
