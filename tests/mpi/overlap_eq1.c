/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Equation (1) of Denis & Trahay 2016 (III.B) by hand, for sender-side overlap (III.D), two ranks:
 * overlap_eq1 BYTES MICROSECONDS… Prints a line for each computation time: bytes, microseconds, the
 * ratio, its 95 % confidence interval by resampling, T_comm and the ACK's latency in us. It shares
 * only the paper with povbench. T_comm is the sequence without computation, one sample after the
 * other; directly after a computation it takes longer.
 */
#include "expect.h"

#define SAMPLES 300
#define WARMUP 500
#define RESAMPLES 400

static char *buf;
static int bytes;

static double now_us(void)
{
	return (double)now_ns() / 1e3;
}

static void compute(double us)
{
	double until = now_us() + us;

	while (us > 0 && now_us() < until)
		;
}

static void send(int cnt, int tag)
{
	MPI_Send(buf, cnt, MPI_CHAR, !rank, tag, MPI_COMM_WORLD);
}

static void receive(int cnt, int tag)
{
	MPI_Recv(buf, cnt, MPI_CHAR, !rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 begins when rank 1 has signalled that it is ready (III.A). */
static double sequence(double us)
{
	double began;
	MPI_Request r;

	if (rank == 1) {
		send(0, 1);
		receive(bytes, 2);
		send(0, 3);
		return 0;
	}
	receive(0, 1);
	began = now_us();
	MPI_Isend(buf, bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &r);
	compute(us);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	receive(0, 3);
	return now_us() - began;
}

static double half_round_trip(double unused)
{
	double began = now_us();

	(rank ? receive : send)(0, 4);
	(rank ? send : receive)(0, 4);
	return (now_us() - began) / 2;
}

static double computation(double us)
{
	double began = now_us();

	if (!rank)
		compute(us);
	return now_us() - began;
}

static void take(double *samples, int cnt, double (*what)(double us), double us)
{
	for (int i = 0; i < cnt; i++)
		samples[i] = what(us);
}

/* Returns the median of the samples, or of a resample of the same size. */
static double median_of(const double *v, int resample)
{
	double copy[SAMPLES];

	for (int i = 0; i < SAMPLES; i++)
		copy[i] = v[resample ? rand() % SAMPLES : i];
	return median(copy, SAMPLES);
}

static double equation_1(const double *comm, const double *comp, const double *both, double latency,
			 int resample)
{
	double tc = median_of(comm, resample) - latency;
	double tp = median_of(comp, resample);
	double tm = median_of(both, resample) - latency;

	return (tm - (tc > tp ? tc : tp)) / (tc < tp ? tc : tp);
}

static void point(double us, double latency)
{
	double comm[SAMPLES], comp[SAMPLES], both[SAMPLES], ratio[RESAMPLES];

	take(comp, SAMPLES, computation, us);
	take(both, SAMPLES, sequence, us);
	take(comm, SAMPLES, sequence, 0);
	if (rank)
		return;
	for (int i = 0; i < RESAMPLES; i++)
		ratio[i] = equation_1(comm, comp, both, latency, 1);
	qsort(ratio, RESAMPLES, sizeof(*ratio), by_value);
	printf("%d %.0f %.4f %.4f %.4f %.3f %.3f\n", bytes, us,
	       equation_1(comm, comp, both, latency, 0), ratio[RESAMPLES / 40],
	       ratio[RESAMPLES - 1 - RESAMPLES / 40], median_of(comm, 0) - latency, latency);
}

int main(int argc, char **argv)
{
	double latency[WARMUP];

	expect_init(&argc, &argv);
	bytes = atoi(argv[1]);
	buf = calloc(1, bytes + 1);
	take(latency, WARMUP, half_round_trip, 0);
	take(latency, SAMPLES, half_round_trip, 0);
	for (int i = 0; i < WARMUP; i++)
		sequence(0);
	for (int i = 2; i < argc; i++)
		point(atof(argv[i]), median_of(latency, 0));
	MPI_Finalize();
	return 0;
}
