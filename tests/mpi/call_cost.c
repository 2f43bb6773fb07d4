/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Measures how long MPI calls take, to compare runs with and without probes. The rank calls itself,
 * so that only the library is measured: no peer, no waiting, no scheduler.
 *
 * Usage: call_cost self|mix [SAMPLES [ROUNDS]]; first THREADS; pause
 *   self  a round is MPI_Isend, MPI_Recv, MPI_Wait
 *   mix   a round is like a stencil code: 2 × Irecv, 2 × Isend, Waitall, every 4th round an
 *         Allreduce, every 16th a Bcast, with sizes, tags and peers that vary likewise
 *
 *         Both print one line: ns per call (median of the samples), the smallest sample, total
 *         number of calls.
 *   first starts that many threads, one after the other, that call MPI twice each. Prints the ns of
 *         each thread's first and second call, one line per thread
 *   pause initialises MPI and does nothing until it is killed
 */
#include "expect.h"

#define SAMPLES_MAX 1000

static char out[2][8192], in[2][8192];

static unsigned long round_self(unsigned long i)
{
	MPI_Request req;

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

static void rounds_time(unsigned long (*body)(unsigned long i), char **args)
{
	int samples = args[0] ? atoi(args[0]) : 31;
	unsigned long rounds = args[0] && args[1] ? strtoul(args[1], NULL, 10) : 2000;
	unsigned long calls, total = 0;
	double ns[SAMPLES_MAX], typical;
	unsigned long long begin;

	MUST(samples >= 1 && samples <= SAMPLES_MAX && rounds >= 1);
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
}

static void self(char **args)
{
	rounds_time(round_self, args);
}

static void mix(char **args)
{
	rounds_time(round_mix, args);
}

static unsigned long long poll_ns(void)
{
	unsigned long long begin = now_ns();
	int flag;

	MPI_Iprobe(0, 5, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	return now_ns() - begin;
}

static void *poll_twice(void *arg)
{
	unsigned long long first = poll_ns();

	printf("%llu %llu\n", first, poll_ns());
	return arg;
}

static void first(char **args)
{
	poll_ns();
	for (int i = 0; i < atoi(args[0]); i++)
		threads_run(1, poll_twice, 0);
}

static void wait_for_ever(char **args)
{
	pause();
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{"self", self}, {"mix", mix}, {"first", first}, {"pause", wait_for_ever}};

	MUST(argc > 1);
	expect_init_thread(&argc, &argv, *argv[1] == 'f' ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
	MODE_RUN(modes, argv + 1);
	MPI_Finalize();
	return 0;
}
