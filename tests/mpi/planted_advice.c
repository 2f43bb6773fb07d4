/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Programs that a setting makes faster: planted_advice WHAT ROUNDS [BYTES [FILE]]. Two ranks;
 * computation uses CPU time.
 *
 *	threshold	rank 0 sends BYTES, and rank 1 receives them after computing for 2 ms. Rank
 *			0 then computes as long. Both compute at the same time only if the send does
 *			not wait for the receive
 *	ready		same, but rank 1 receives first
 *	progress	rank 0 posts a receive of BYTES, computes for 3 ms and waits for it. Rank 1
 *			sends them, then computes as long and answers. Both compute at the same time
 *			only if the send ends while rank 0 computes
 *	tested		same, with MPI_Test every 50 us of computation
 *	pairs		both compute for 4 ms and exchange 8 bytes
 *	solve		the calls and memory accesses of an iteration of conjugate gradients: three
 *			vectors of BYTES, two sums over all ranks, two exchanges
 *	threads		the threads (OMP_NUM_THREADS) share 400 us of work, ten times in sequence,
 *			and the ranks add up a number. Threads that have done their part wait busily
 *			for the others, like an OpenMP runtime that assumes exclusive cores
 *	bcast, allreduce	of BYTES, each after 50 us of computation
 *
 * Four ranks:
 *	pairs4		each exchanges BYTES with the other one of its pair (0 1, 2 3) ten times,
 *			then once with one of the other pair (0 2, 1 3)
 *
 * With FILE each rank writes its pid to FILE.ready.RANK and begins when FILE exists. Rank 0 prints
 * the time of the rounds, in ns.
 */
#include <omp.h>

#include "planted.h"

#define TAG 5

static char *buf, *in_buf;
static int bytes;

static void put(int to, int n)
{
	MPI_Send(buf, n, MPI_CHAR, to, TAG, MPI_COMM_WORLD);
}

static void get(int from, int n)
{
	MPI_Recv(buf, n, MPI_CHAR, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange_with(int other, int n)
{
	MPI_Sendrecv(buf, n, MPI_CHAR, other, TAG, in_buf, n, MPI_CHAR, other, TAG, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

/* The scene's argument: rank 1 receives first. */
static void send_and_compute(void)
{
	if (rank == 0)
		put(1, bytes);
	if (rank == 1 && scene->arg)
		get(0, bytes);
	compute_ms(2);
	if (rank == 1 && !scene->arg)
		get(0, bytes);
	exchange_with(!rank, 8);
}

/* The scene's argument: rank 0 tests while it computes. */
static void receive_and_compute(void)
{
	MPI_Request request;
	int done = 0;

	if (rank == 1) {
		get(0, 8);
		put(0, bytes);
		compute_ms(3);
		put(0, 8);
		return;
	}
	MPI_Irecv(buf, bytes, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &request);
	put(1, 8);
	for (int i = 0; i < 60; i++) {
		compute_ms(0.05);
		if (scene->arg && !done)
			MPI_Test(&request, &done, MPI_STATUS_IGNORE);
	}
	if (!done)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	get(1, 8);
}

static void pairs(void)
{
	compute_ms(4);
	exchange_with(!rank, 8);
}

static void sum(double mine)
{
	double all;

	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void solve(void)
{
	double *x = (double *)buf, *y = (double *)in_buf, mine = 0;
	int n = bytes / (int)sizeof(*x) - 1;

	for (int i = 1; i < n; i++)
		y[i] = 2.01 * x[i] - x[i - 1] - x[i + 1];
	for (int i = 0; i < n; i++)
		mine += x[i] * y[i];
	sum(mine);
	for (int i = 0; i < n; i++)
		x[i] += 1e-3 * y[i];
	for (int i = 0; i < n; i++)
		mine += y[i] * y[i];
	sum(mine);
	exchange_with(!rank, 8);
	exchange_with(!rank, 8);
}

static void pairs4(void)
{
	for (int i = 0; i < 10; i++)
		exchange_with(rank ^ 1, bytes);
	exchange_with(rank ^ 2, bytes);
}

static void threads(void)
{
	for (int part = 0; part < 10; part++) {
#pragma omp parallel
		compute_ms(0.4 / omp_get_num_threads());
	}
	sum(1);
}

static void bcast(void)
{
	compute_ms(0.05);
	MPI_Bcast(buf, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void allreduce(void)
{
	compute_ms(0.05);
	MPI_Allreduce(buf, in_buf, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM,
		      MPI_COMM_WORLD);
}

/* Writes this rank's pid to FILE.ready.RANK and waits for FILE. */
static void wait_for(const char *file)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s.ready.%d", file, rank);
	f = fopen(path, "w");
	MUST(f && fprintf(f, "%d\n", (int)getpid()) > 0 && !fclose(f));
	while (access(file, F_OK))
		usleep(10000);
}

static const struct scene scenes[] = {{"threshold", send_and_compute, 0},
				      {"ready", send_and_compute, 1},
				      {"progress", receive_and_compute, 0},
				      {"tested", receive_and_compute, 1},
				      {"pairs", pairs, 0},
				      {"solve", solve, 0},
				      {"threads", threads, 0},
				      {"bcast", bcast, 0},
				      {"allreduce", allreduce, 0},
				      {"pairs4", pairs4, 0}};

int main(int argc, char **argv)
{
	int rounds, got;
	unsigned long long begin_ns;

	MUST(argc > 2);
	rounds = atoi(argv[2]);
	bytes = argc > 3 ? atoi(argv[3]) : 8;
	buf = calloc(1, bytes);
	in_buf = calloc(1, bytes);
	for (scene = scenes; strcmp(argv[1], scene->name);)
		MUST(++scene < scenes + ARRAY_SIZE(scenes));
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &got);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc > 4)
		wait_for(argv[4]);
	MPI_Barrier(MPI_COMM_WORLD);
	begin_ns = now_ns();
	for (int i = 0; i < rounds; i++)
		scene->run();
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("%llu\n", now_ns() - begin_ns);
	MPI_Finalize();
	return 0;
}
