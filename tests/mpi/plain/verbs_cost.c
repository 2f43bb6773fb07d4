/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * verbs_cost PROVIDER [SAMPLES [ROUNDS]]: how long it takes to post a request of one piece of memory to a provider that does nothing with it
 * (verbs_loopback.c). Prints one line as call_cost does: ns per call (median of the samples), the smallest sample, calls made
 * in all.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "verbs_loopback.h"

#define SAMPLES_MAX 1000

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static double sample_ns(struct ibv_qp *qp, unsigned long rounds)
{
	struct ibv_sge piece = {.addr = 0x1000, .length = 64, .lkey = 1};
	struct ibv_send_wr wr = {.sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	double begin = now_ns();

	for (unsigned long i = 0; i < rounds; i++) {
		wr.wr_id = i;
		if (ibv_post_send(qp, &wr, &bad))
			exit(1);
	}
	return (now_ns() - begin) / (double)rounds;
}

int main(int argc, char **argv)
{
	int samples = argc > 2 ? atoi(argv[2]) : 31;
	unsigned long rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 2000;
	void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	struct ibv_qp qp = {.qp_num = 17, .qp_type = IBV_QPT_RC};
	static double ns[SAMPLES_MAX];
	loopback_open_fn *open = NULL;

	if (lib)
		*(void **)&open = dlsym(lib, "loopback_open");
	if (!open || samples < 1 || samples > SAMPLES_MAX || rounds < 1) {
		fprintf(stderr, "usage: %s PROVIDER [SAMPLES [ROUNDS]]\n", argv[0]);
		return 2;
	}
	qp.context = open(LOOPBACK_FIRST);
	for (int s = -2; s < samples; s++) { /* two to warm up */
		double took = sample_ns(&qp, rounds);

		if (s >= 0)
			ns[s] = took;
	}
	qsort(ns, samples, sizeof(*ns), by_value);
	printf("%.1f %.1f %lu\n", ns[samples / 2], ns[0], rounds * (samples + 2));
	return 0;
}
