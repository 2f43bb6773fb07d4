/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Solves a Poisson equation by conjugate gradients: cg [UNKNOWNS OF A RANK [ITERATIONS]]. One dimension, so that a product with the
 * matrix takes two neighbours' values; the sections are the whole solution, "solve", and in it the inner products, "ddot". Prints,
 * for rank 0, the times that a benchmark of that kind would, and the speed that follows from them.
 */
#include <math.h>

#include "witness.h"

#define PROG "cg"

enum { SOLVE, DDOT };
static struct witness sections[] = {{.name = "solve"}, {.name = "ddot", .level = 1}};
static int rank, size, n;

static double ddot(const double *x, const double *y)
{
	double mine = 0, all;

	witness_begin(&sections[DDOT]);
	for (int i = 0; i < n; i++)
		mine += x[i] * y[i];
	MOVE(MPI_Allreduce, 8, 8, &mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	witness_end(&sections[DDOT]);
	return all;
}

/* What lies beside this rank's part of x, 0 outside. */
static void neighbours(const double *x, double *left, double *right)
{
	int before = rank ? rank - 1 : MPI_PROC_NULL;
	int after = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;

	*left = *right = 0;
	DO(MPI_Sendrecv, &x[n - 1], 1, MPI_DOUBLE, after, 1, left, 1, MPI_DOUBLE, before, 1,
	   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	DO(MPI_Sendrecv, &x[0], 1, MPI_DOUBLE, before, 2, right, 1, MPI_DOUBLE, after, 2,
	   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void product(const double *x, double *y)
{
	double left, right;

	neighbours(x, &left, &right);
	for (int i = 0; i < n; i++)
		y[i] = 2.01 * x[i] - (i ? x[i - 1] : left) - (i + 1 < n ? x[i + 1] : right);
}

/* y = a y + b x */
static void add(double *y, double a, const double *x, double b)
{
	for (int i = 0; i < n; i++)
		y[i] = a * y[i] + b * x[i];
}

static double solve(double *x, int iterations)
{
	double *r = malloc(sizeof(*r) * (size_t)n), *p = malloc(sizeof(*p) * (size_t)n);
	double *q = malloc(sizeof(*q) * (size_t)n), rr, before, alpha;

	MUST(r && p && q);
	for (int i = 0; i < n; i++)
		r[i] = p[i] = 1;
	memset(x, 0, sizeof(*x) * (size_t)n);
	rr = ddot(r, r);
	for (int k = 0; k < iterations; k++) {
		product(p, q);
		alpha = rr / ddot(p, q);
		add(x, 1, p, alpha);
		add(r, 1, q, -alpha);
		before = rr;
		rr = ddot(r, r);
		add(p, rr / before, r, 1);
	}
	free(r);
	free(p);
	free(q);
	return sqrt(rr);
}

static void speed_print(const char *what, const struct witness *w, double flop)
{
	double wall_s = w->wall_s[WITNESS_INSIDE], cpu_s = w->cpu_s[WITNESS_INSIDE];

	printf("%s: MPI_Wtime %.3f s, %.0f MFLOP/s; CPU time %.3f s, %.0f MFLOP/s\n", what, wall_s,
	       flop / wall_s / 1e6, cpu_s, flop / cpu_s / 1e6);
}

int main(int argc, char **argv)
{
	int iterations = argc > 2 ? atoi(argv[2]) : 211;
	double *x, rest;

	n = argc > 1 ? atoi(argv[1]) : 200003;
	MUST(n > 0 && iterations > 0);
	expect_init(&argc, &argv, &rank, &size);
	x = malloc(sizeof(*x) * (size_t)n);
	MUST(x);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	witness_begin(&sections[SOLVE]);
	rest = solve(x, iterations);
	witness_end(&sections[SOLVE]);
	MUST(rest < sqrt((double)n * size)); /* it got nearer */
	if (!rank) {
		speed_print("total", &sections[SOLVE], 15.0 * n * iterations);
		speed_print("ddot", &sections[DDOT], 2.0 * n * (2 * iterations + 1));
	}
	free(x);
	witness_write(sections, 2, rank);
	expect_finish(PROG, rank);
	return 0;
}
