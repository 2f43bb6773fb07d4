/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sections of a program, marked as phases for the tracer, and their times by clocks that the
 * program reads itself: MPI_Wtime, and the thread's CPU time. "witness" gets a line for each
 * section of each rank, with the times from inside and from outside.
 *
 *	cg		solves a Poisson equation by conjugate gradients, in one dimension, so that
 *			a product with the matrix needs two neighbours' values. The sections are the
 *			whole solution, "solve", and the inner products in it, "ddot". Rank 0 prints
 *			the times that such a benchmark would, and the resulting speed
 *	cg busy SECONDS	each rank uses that much CPU time in the section "busy", between two
 *			barriers. The second barrier is in the section "together"
 */
#include <math.h>

#include "../../bpf/abi/mark.h"
#include "expect.h"

#define UNKNOWNS 200003 /* per rank */
#define ITERATIONS 211

enum { INSIDE, OUTSIDE }; /* inside or outside the marks, which enclose the section */

struct section {
	const char *name;
	int level; /* level of the phase */
	/* Sums over all executions. */
	double wall_s[2], cpu_s[2];
};

static void section_read(struct section *w, int where, int sign)
{
	w->wall_s[where] += sign * MPI_Wtime();
	w->cpu_s[where] += sign * (double)clock_ns(CLOCK_THREAD_CPUTIME_ID) * 1e-9;
}

static void section_begin(struct section *w)
{
	unsigned long long name[POV_MARK_WORDS] = {0};

	memcpy(name, w->name, strlen(w->name));
	section_read(w, OUTSIDE, -1);
	DO(MPI_Pcontrol, POV_MARK_BEGIN + w->level, name[0], name[1], name[2], name[3]);
	section_read(w, INSIDE, -1);
}

static void section_end(struct section *w)
{
	section_read(w, INSIDE, 1);
	DO(MPI_Pcontrol, POV_MARK_END + w->level);
	section_read(w, OUTSIDE, 1);
}

/* Writes one line per section of this rank: times from inside and from outside. */
static void sections_write(const struct section *w, int n)
{
	FILE *f = expect_open("witness", rank);

	for (int i = 0; i < n; i++)
		fprintf(f,
			"{\"section\":\"%s\",\"rank\":%d,\"wall_ns\":[%.0f,%.0f],\"cpu_ns\":[%.0f,%.0f]}\n",
			w[i].name, rank, w[i].wall_s[0] * 1e9, w[i].wall_s[1] * 1e9,
			w[i].cpu_s[0] * 1e9, w[i].cpu_s[1] * 1e9);
	expect_close(f);
}

enum { OUTER, INNER };
static struct section solve_sections[] = {{.name = "solve"}, {.name = "ddot", .level = 1}};
static struct section busy_sections[] = {{.name = "together"}, {.name = "busy", .level = 1}};
static const int n = UNKNOWNS;

static double ddot(const double *x, const double *y)
{
	double mine = 0, all;

	section_begin(&solve_sections[INNER]);
	for (int i = 0; i < n; i++)
		mine += x[i] * y[i];
	MOVE(MPI_Allreduce, 8, 8, &mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	section_end(&solve_sections[INNER]);
	return all;
}

/* Gets the values next to this rank's part of x, 0 outside. */
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

/* Computes y = a y + b x. */
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

static void speed_print(const char *what, const struct section *w, double flop)
{
	double wall_s = w->wall_s[INSIDE], cpu_s = w->cpu_s[INSIDE];

	printf("%s: MPI_Wtime %.3f s, %.0f MFLOP/s; CPU time %.3f s, %.0f MFLOP/s\n", what, wall_s,
	       flop / wall_s / 1e6, cpu_s, flop / cpu_s / 1e6);
}

static void solve_all(void)
{
	double *x = malloc(sizeof(*x) * n), rest;

	MUST(x);
	section_begin(&solve_sections[OUTER]);
	rest = solve(x, ITERATIONS);
	section_end(&solve_sections[OUTER]);
	MUST(rest < sqrt((double)n * size)); /* the residual has decreased */
	if (!rank) {
		speed_print("total", &solve_sections[OUTER], 15.0 * n * ITERATIONS);
		speed_print("ddot", &solve_sections[INNER], 2.0 * n * (2 * ITERATIONS + 1));
	}
	free(x);
	sections_write(solve_sections, 2);
}

static void busy(double seconds)
{
	section_begin(&busy_sections[OUTER]);
	section_begin(&busy_sections[INNER]);
	compute_ms(seconds * 1000);
	section_end(&busy_sections[INNER]);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	section_end(&busy_sections[OUTER]);
	sections_write(busy_sections, 2);
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	if (argc == 3)
		busy(atof(argv[2]));
	else
		solve_all();
	expect_finish();
	return 0;
}
