/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Measures how long MPI calls take, to compare runs with and without probes. The rank calls itself,
 * so that only the library is measured: no peer, no waiting, no scheduler.
 *
 * Usage: call_cost self|mix [SAMPLES [ROUNDS]]
 *   self  a round is MPI_Isend, MPI_Recv, MPI_Wait
 *   mix   a round is like a stencil code: 2 × Irecv, 2 × Isend, Waitall, every 4th round an
 *         Allreduce, every 16th a Bcast, with sizes, tags and peers that vary likewise
 *
 * Prints one line: ns per call (median of the samples), the smallest sample, total number of calls.
 */
#include "expect.h"

#define SAMPLES_MAX 1000

static char out[2][8192], in[2][8192];

static unsigned long round_self(unsigned long i)
{
	MPI_Request req;

	(void)i;
	MPI_Isend(out[0], 61, MPI_CHAR, rank, 3, MPI_COMM_WORLD, &req);
	MPI_Recv(in[0], 61, MPI_CHAR, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
	return 3;
}

static unsigned long round_mix(unsigned long i)
{
	int cnt = i % 3 ? 64 : 512, other;
	unsigned long calls = 5;
	MPI_Request req[4];
	double a = 1, b;

	for (other = 0; other < 2; other++)
		MPI_Irecv(in[other], cnt, MPI_DOUBLE, rank, 10 + other, MPI_COMM_WORLD,
			  &req[other]);
	for (other = 0; other < 2; other++)
		MPI_Isend(out[other], cnt, MPI_DOUBLE, rank, 10 + other, MPI_COMM_WORLD,
			  &req[2 + other]);
	MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
	if (i % 4 == 0) {
		MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
		calls++;
	}
	if (i % 16 == 0) {
		MPI_Bcast(out[0], 4, MPI_INT, 0, MPI_COMM_SELF);
		calls++;
	}
	return calls;
}

int main(int argc, char **argv)
{
	unsigned long (*body)(unsigned long i) = argc > 1 && !strcmp(argv[1], "mix") ? round_mix :
										       round_self;
	int samples = argc > 2 ? atoi(argv[2]) : 31;
	unsigned long rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 2000, calls, total = 0;
	double ns[SAMPLES_MAX], typical;
	unsigned long long begin;

	MUST(samples >= 1 && samples <= SAMPLES_MAX && rounds >= 1);
	expect_init(&argc, &argv);
	for (int s = -2; s < samples; s++) { /* two samples warm up */
		calls = 0;
		begin = now_ns();
		for (unsigned long i = 0; i < rounds; i++)
			calls += body(i);
		total += calls;
		ns[s < 0 ? 0 : s] = (double)(now_ns() - begin) / (double)calls;
	}
	typical = median(ns, samples);
	printf("%.1f %.1f %lu\n", typical, ns[0], total);
	MPI_Finalize();
	return 0;
}
