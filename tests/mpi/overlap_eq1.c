/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Equation (1) of Denis & Trahay 2016 (III.B) by hand, for sender-side overlap (III.D), two ranks: overlap_eq1 BYTES MICROSECONDS…
 * For each computation time a line: bytes, microseconds, the ratio, its 95 % confidence interval by resampling, T_comm and
 * the ACK's latency in us. It shares nothing with povbench but the paper. T_comm is the sequence without computation, one
 * sample behind the other: right behind a computation it takes longer.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SAMPLES 300
#define WARMUP 500
#define RESAMPLES 400

static char *buf;
static int rank, bytes;

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void compute(double us)
{
	double until = now_us() + us;

	while (us > 0 && now_us() < until)
		;
}

/* Rank 0 begins when rank 1 has said that it is there (III.A). */
static double sequence(double us)
{
	char none = 0;
	double began;
	MPI_Request r;

	if (rank == 1) {
		MPI_Send(&none, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
		MPI_Recv(buf, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&none, 0, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
		return 0;
	}
	MPI_Recv(&none, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	began = now_us();
	MPI_Isend(buf, bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &r);
	compute(us);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Recv(&none, 0, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return now_us() - began;
}

static double half_round_trip(void)
{
	double began = now_us();
	char none = 0;

	if (rank == 1) {
		MPI_Recv(&none, 0, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&none, 0, MPI_CHAR, 0, 4, MPI_COMM_WORLD);
	} else {
		MPI_Send(&none, 0, MPI_CHAR, 1, 4, MPI_COMM_WORLD);
		MPI_Recv(&none, 0, MPI_CHAR, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	return (now_us() - began) / 2;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *v, int n, int resample)
{
	double *copy = malloc(n * sizeof(*copy)), m;

	for (int i = 0; i < n; i++)
		copy[i] = v[resample ? rand() % n : i];
	qsort(copy, n, sizeof(*copy), by_value);
	m = (copy[(n - 1) / 2] + copy[n / 2]) / 2;
	free(copy);
	return m;
}

static double equation_1(const double *comm, const double *comp, const double *both, double latency,
			 int resample)
{
	double tc = median(comm, SAMPLES, resample) - latency;
	double tp = median(comp, SAMPLES, resample);
	double tm = median(both, SAMPLES, resample) - latency;

	return (tm - (tc > tp ? tc : tp)) / (tc < tp ? tc : tp);
}

static void point(double us, double latency)
{
	static double comm[SAMPLES], comp[SAMPLES], both[SAMPLES], ratio[RESAMPLES];

	for (int i = 0; i < SAMPLES; i++) {
		double began = now_us();

		if (!rank)
			compute(us);
		comp[i] = now_us() - began;
	}
	for (int i = 0; i < SAMPLES; i++)
		both[i] = sequence(us);
	for (int i = 0; i < SAMPLES; i++)
		comm[i] = sequence(0);
	if (rank)
		return;
	for (int i = 0; i < RESAMPLES; i++)
		ratio[i] = equation_1(comm, comp, both, latency, 1);
	qsort(ratio, RESAMPLES, sizeof(*ratio), by_value);
	printf("%d %.0f %.4f %.4f %.4f %.3f %.3f\n", bytes, us,
	       equation_1(comm, comp, both, latency, 0), ratio[RESAMPLES / 40],
	       ratio[RESAMPLES - 1 - RESAMPLES / 40], median(comm, SAMPLES, 0) - latency, latency);
}

int main(int argc, char **argv)
{
	static double latency[SAMPLES];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	bytes = atoi(argv[1]);
	buf = calloc(1, bytes + 1);
	for (int i = 0; i < WARMUP; i++)
		half_round_trip();
	for (int i = 0; i < SAMPLES; i++)
		latency[i] = half_round_trip();
	for (int i = 0; i < WARMUP; i++)
		sequence(0);
	for (int i = 2; i < argc; i++)
		point(atof(argv[i]), median(latency, SAMPLES, 0));
	free(buf);
	MPI_Finalize();
	return 0;
}
