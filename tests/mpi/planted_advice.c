/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Programs that a setting makes faster: planted_advice WHAT ROUNDS [BYTES [FILE]]. Two ranks; what they compute is CPU time.
 *	threshold	rank 0 sends BYTES, which rank 1 receives when it has computed for 2 ms; then rank 0 computes as long: at the same time
 *			only if its send does not wait for the receive
 *	ready		the same, but rank 1 receives first
 *	progress	rank 0 posts a receive of BYTES, computes for 3 ms and waits for it; rank 1 sends them, then computes as long and answers: at the
 *			same time only if its send is over while rank 0 computes
 *	tested		the same, with MPI_Test every 50 us of computation
 *	pairs		both compute for 4 ms and exchange 8 bytes
 *	solve		an iteration of conjugate gradients, as for its calls and what it reads: three vectors of BYTES, two sums over all ranks, two exchanges
 * Four ranks:
 *	pairs4		each exchanges BYTES with the other one of its pair (0 1, 2 3) ten times, then once with one of the other pair (0 2, 1 3)
 * With FILE each rank writes its pid to FILE.ready.RANK and begins when FILE is there. Rank 0 prints how long the rounds took, in ns.
 */
#include "planted.h"

#define TAG 5

static char *buf, *in_buf;
static int rank, bytes;

static void send_to(int to, int n)
{
	MPI_Send(buf, n, MPI_CHAR, to, TAG, MPI_COMM_WORLD);
}

static void recv_from(int from, int n)
{
	MPI_Recv(buf, n, MPI_CHAR, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange(void)
{
	char in[8];

	MPI_Sendrecv(buf, 8, MPI_CHAR, !rank, TAG, in, 8, MPI_CHAR, !rank, TAG, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

static void send_and_compute(int ready)
{
	if (rank == 0)
		send_to(1, bytes);
	if (rank == 1 && ready)
		recv_from(0, bytes);
	compute_ms(2);
	if (rank == 1 && !ready)
		recv_from(0, bytes);
	exchange();
}

static void receive_and_compute(int test)
{
	MPI_Request request;
	int done = 0;

	if (rank == 1) {
		recv_from(0, 8);
		send_to(0, bytes);
		compute_ms(3);
		send_to(0, 8);
		return;
	}
	MPI_Irecv(buf, bytes, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &request);
	send_to(1, 8);
	for (int i = 0; i < 60; i++) {
		compute_ms(0.05);
		if (test && !done)
			MPI_Test(&request, &done, MPI_STATUS_IGNORE);
	}
	if (!done)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	recv_from(1, 8);
}

static void threshold(void)
{
	send_and_compute(0);
}

static void ready(void)
{
	send_and_compute(1);
}

static void progress(void)
{
	receive_and_compute(0);
}

static void tested(void)
{
	receive_and_compute(1);
}

static void pairs(void)
{
	compute_ms(4);
	exchange();
}

static void solve(void)
{
	double *x = (double *)buf, *y = (double *)in_buf, mine = 0, all;
	int n = bytes / (int)sizeof(*x) - 1;

	for (int i = 1; i < n; i++)
		y[i] = 2.01 * x[i] - x[i - 1] - x[i + 1];
	for (int i = 0; i < n; i++)
		mine += x[i] * y[i];
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		x[i] += 1e-3 * y[i];
	for (int i = 0; i < n; i++)
		mine += y[i] * y[i];
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	exchange();
	exchange();
}

static void exchange_with(int other)
{
	MPI_Sendrecv(buf, bytes, MPI_CHAR, other, TAG, in_buf, bytes, MPI_CHAR, other, TAG,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void pairs4(void)
{
	for (int i = 0; i < 10; i++)
		exchange_with(rank ^ 1);
	exchange_with(rank ^ 2);
}

/* FILE.ready.RANK gets the pid of a rank that is there. */
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

static const struct {
	const char *name;
	void (*run)(void);
} scenes[] = {{"threshold", threshold}, {"ready", ready}, {"progress", progress},
	      {"tested", tested},	{"pairs", pairs}, {"solve", solve},
	      {"pairs4", pairs4}};

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int rounds = argc > 2 ? atoi(argv[2]) : 100;
	unsigned long long begin_ns;

	bytes = argc > 3 ? atoi(argv[3]) : 8;
	buf = calloc(1, bytes > 8 ? bytes : 8);
	in_buf = calloc(1, bytes > 8 ? bytes : 8);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc > 4)
		wait_for(argv[4]);
	MPI_Barrier(MPI_COMM_WORLD);
	begin_ns = now_ns();
	for (int i = 0; i < rounds; i++)
		for (size_t n = 0; n < sizeof(scenes) / sizeof(scenes[0]); n++)
			if (!strcmp(what, scenes[n].name))
				scenes[n].run();
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("%llu\n", now_ns() - begin_ns);
	MPI_Finalize();
	free(buf);
	free(in_buf);
	return 0;
}
