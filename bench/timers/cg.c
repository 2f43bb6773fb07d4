/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A program that reports its own speed: a conjugate-gradient solve whose MFLOP/s are computed by
 * MPI_Wtime and by the rank's CPU time, with V ranks on one core. Nigay et al. 2020 (section 3.1,
 * table 2) saw HPCCG divide the operations of one rank by the time of all ranks of its core. The
 * system is like HPCCG's (Heroux et al. 2009): a 27-point operator with diagonal 27 and others −1,
 * a cube of unknowns per rank, stacked along z, and a right-hand side for which the solution is
 * all ones. The solution is checked each time. The matrix is not stored. Results are rank 0's
 * times and speeds, as in HPCCG. If `povtrace clock` serves, they include speeds by MPIX_Rtime,
 * which should equal those by CPU time.
 *
 * Expected for V ranks on a core, if a waiting rank sleeps: the speed by CPU time is that of V =
 * 1, and the speed by MPI_Wtime is a V-th of it. If it polls, waiting counts as CPU time, and the
 * two are closer. The effect is largest in the dot product ("ddot"), whose reduction waits for the
 * others. In virtual time an operation takes FLOP_NS.
 */
#include "core/bench.h"
#include "core/nodes.h"
#include "lib/log.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE = 32, LINES = EDGE * EDGE, ITERATIONS_MAX = 150 };
enum {
	STRIDE = EDGE + 2,
	PLANE = STRIDE * STRIDE,
	VOLUME = PLANE * STRIDE,
	ROWS = EDGE * EDGE * EDGE
};
enum { TAG_UP = 1, TAG_DOWN };
enum { REQUESTS = 4 }; /* two planes, sent and received */
/* Operations per row: operator (26 additions, a product, a difference), dot product, update. */
enum { FLOPS_APPLY = 28, FLOPS_DOT = 2, FLOPS_UPDATE = 2 };
#define FLOP_NS 1
#define RESIDUAL_MAX 1e-10 /* relative */
#define ERROR_MAX 1e-6
#define NS_PER_S 1e9

/* Readings of a solve, in the order of display; MPIX_Rtime only if `povtrace clock` serves. */
enum reading { WTIME, RTIME, CPU, READING_CNT };
static const char *const reading_name[READING_CNT] = {"wtime", "rtime", "cpu"};

/* Vectors are cubes with a shell: the neighbours' planes below and above, zeros at the sides. */
struct cg {
	struct comm *comm;
	struct comm_request request[REQUESTS];
	double *x, *r, *p, *q, *b;
	double flops, ddot_flops;
	double ddot_ns[READING_CNT];
	double error; /* largest |x - 1| */
	int iterations;
};

struct cg_times {
	struct cg cg;
	uint64_t skip;
	double worst; /* error of all solves */
	struct samples all[READING_CNT],
		ddot[READING_CNT]; /* of the whole solve, of the dot products */
	bool served;		   /* `povtrace clock` serves all ranks */
};

/* Start of the cube's n-th line of EDGE unknowns, within the cube with its shell. */
static inline int line_at(int n)
{
	return (n / EDGE + 1) * PLANE + (n % EDGE + 1) * STRIDE + 1;
}

/* ---- kernels ---- */

/* Counts operations. In virtual time it also spends their time, as code itself takes none. */
static void flops_add(struct cg *g, double flops)
{
	const struct compute how = {.kind = COMPUTE_WORK, .cores = COMPUTE_ONE};

	g->flops += flops;
	if (g->comm->features & COMM_VIRTUAL_TIME)
		g->comm->ops->compute(g->comm, &how, (uint64_t)(flops * FLOP_NS));
}

static void plane_exchange(struct comm *c, double *send, double *recv, int to, int from, int tag,
			   struct comm_request *r, int *cnt)
{
	struct comm_msg out = {.buf = send, .bytes = PLANE * sizeof(double)};
	struct comm_msg in = {.buf = recv, .bytes = PLANE * sizeof(double)};

	if (from >= 0 && from < c->size)
		c->ops->irecv(c, &in, from, tag, &r[(*cnt)++]);
	if (to >= 0 && to < c->size)
		c->ops->isend(c, &out, to, tag, &r[(*cnt)++]);
}

/* Sends the lowest plane down, where it becomes the upper shell, and the highest plane up. */
static void shell_fill(struct cg *g, double *v)
{
	struct comm *c = g->comm;
	struct comm_request *r = g->request;
	int cnt = 0;

	plane_exchange(c, v + EDGE * PLANE, v, c->rank + 1, c->rank - 1, TAG_UP, r, &cnt);
	plane_exchange(c, v + PLANE, v + (EDGE + 1) * PLANE, c->rank - 1, c->rank + 1, TAG_DOWN, r,
		       &cnt);
	c->ops->waitall(c, r, cnt);
}

static double box_sum(const double *v)
{
	double sum = 0;

	for (int z = -PLANE; z <= PLANE; z += PLANE)
		for (int y = -STRIDE; y <= STRIDE; y += STRIDE)
			sum += v[z + y - 1] + v[z + y] + v[z + y + 1];
	return sum;
}

/* Computes out = A v. Values outside of the whole stack are 0 and add nothing. */
static void operator_apply(struct cg *g, double *v, double *out)
{
	shell_fill(g, v);
	for (int n = 0; n < LINES; n++)
		for (int i = line_at(n); i < line_at(n) + EDGE; i++)
			out[i] = 28 * v[i] - box_sum(v + i);
	flops_add(g, (double)FLOPS_APPLY * ROWS);
}

static double vectors_dot(struct cg *g, const double *a, const double *b)
{
	struct comm *c = g->comm;
	double start_s = c->ops->wtime(c), sum = 0, all;
	uint64_t rtime_ns = c->ops->rank_pov_ns(c), cpu_ns = c->ops->cpu_ns(c);

	for (int n = 0; n < LINES; n++)
		for (int i = line_at(n); i < line_at(n) + EDGE; i++)
			sum += a[i] * b[i];
	flops_add(g, (double)FLOPS_DOT * ROWS);
	c->ops->coll(c, COMM_ALLREDUCE, &sum, &all, sizeof(sum), 0);
	g->ddot_flops += (double)FLOPS_DOT * ROWS;
	g->ddot_ns[CPU] += (double)(c->ops->cpu_ns(c) - cpu_ns);
	g->ddot_ns[RTIME] += (double)(c->ops->rank_pov_ns(c) - rtime_ns);
	g->ddot_ns[WTIME] += (c->ops->wtime(c) - start_s) * NS_PER_S;
	return all;
}

/* Computes out = a + factor b; out may be a or b. */
static void vector_update(struct cg *g, const double *a, double factor, const double *b,
			  double *out)
{
	for (int n = 0; n < LINES; n++)
		for (int i = line_at(n); i < line_at(n) + EDGE; i++)
			out[i] = a[i] + factor * b[i];
	flops_add(g, (double)FLOPS_UPDATE * ROWS);
}

static void cube_set(double *v, double value)
{
	for (int n = 0; n < LINES; n++)
		for (int i = line_at(n); i < line_at(n) + EDGE; i++)
			v[i] = value;
}

/* ---- the solve ---- */

static void cg_init(struct cg *g, struct comm *c)
{
	*g = (struct cg){.comm = c};
	c->ops->requests_prepare(c, g->request, REQUESTS);
	g->x = xcalloc(VOLUME, sizeof(double));
	g->r = xcalloc(VOLUME, sizeof(double));
	g->p = xcalloc(VOLUME, sizeof(double));
	g->q = xcalloc(VOLUME, sizeof(double));
	g->b = xcalloc(VOLUME, sizeof(double));
	cube_set(g->p, 1);
	operator_apply(g, g->p, g->b);
}

static void cg_release(struct cg *g)
{
	g->comm->ops->requests_release(g->comm, g->request, REQUESTS);
	free(g->x);
	free(g->r);
	free(g->p);
	free(g->q);
	free(g->b);
}

/* Starts from x = 0, so r = b - A x = b. */
static void cg_solve(struct cg *g)
{
	double rr, rr_old, rr_end, alpha;

	g->flops = g->ddot_flops = 0;
	memset(g->ddot_ns, 0, sizeof(g->ddot_ns));
	cube_set(g->x, 0);
	vector_update(g, g->b, 0, g->b, g->r);
	vector_update(g, g->b, 0, g->b, g->p);
	rr = vectors_dot(g, g->r, g->r);
	rr_end = rr * RESIDUAL_MAX * RESIDUAL_MAX;
	for (g->iterations = 0; rr > rr_end && g->iterations < ITERATIONS_MAX; g->iterations++) {
		operator_apply(g, g->p, g->q);
		alpha = rr / vectors_dot(g, g->p, g->q);
		vector_update(g, g->x, alpha, g->p, g->x);
		vector_update(g, g->r, -alpha, g->q, g->r);
		rr_old = rr;
		rr = vectors_dot(g, g->r, g->r);
		vector_update(g, g->r, rr / rr_old, g->p, g->p);
	}
}

/* The largest error; NaN counts as infinite. */
static double cg_error(const struct cg *g)
{
	double worst = 0, e;

	for (int n = 0; n < LINES; n++)
		for (int i = line_at(n); i < line_at(n) + EDGE; i++) {
			e = fabs(g->x[i] - 1);
			worst = e <= worst ? worst : isnan(e) ? INFINITY : e;
		}
	return worst;
}

static double solve_measure(struct bench_run *run, void *ctx)
{
	struct comm *c = run->comm;
	struct cg_times *t = ctx;
	double start_s = c->ops->wtime(c), ns[READING_CNT];
	uint64_t rtime_ns = c->ops->rank_pov_ns(c), cpu_ns = c->ops->cpu_ns(c);

	cg_solve(&t->cg);
	ns[CPU] = (double)(c->ops->cpu_ns(c) - cpu_ns);
	ns[RTIME] = (double)(c->ops->rank_pov_ns(c) - rtime_ns);
	ns[WTIME] = (c->ops->wtime(c) - start_s) * NS_PER_S;
	t->worst = fmax(t->worst, cg_error(&t->cg));
	for (int i = 0; i < READING_CNT && !t->skip; i++) {
		if (i == RTIME && !t->served)
			continue;
		samples_add(&t->all[i], ns[i]);
		samples_add(&t->ddot[i], t->cg.ddot_ns[i]);
	}
	t->skip -= t->skip > 0;
	return ns[WTIME];
}

/* ---- V ranks on a core ---- */

/* A clock that was not read has neither a time nor a speed. */
static void readings_write(struct result_point *p, const char *before, double flops,
			   const struct samples time_ns[READING_CNT])
{
	char name[32];

	for (int i = 0; i < READING_CNT; i++) {
		snprintf(name, sizeof(name), "%s%s", before, reading_name[i]);
		result_time(p, name, &time_ns[i]);
		snprintf(name, sizeof(name), "%smflops_%s", before, reading_name[i]);
		result_value(p, name, flops / stats_quantile(&time_ns[i], 0.5) * NS_PER_S / 1e6);
	}
}

static void point_write(struct bench_run *run, const struct cg_times *t, double worst)
{
	struct result_point *p = result_point_add(run->result);

	result_param(p, "ranks_per_core", (uint64_t)run->comm->size);
	result_param(p, "rows", ROWS);
	result_param(p, "iterations", (uint64_t)t->cg.iterations);
	readings_write(p, "", t->cg.flops, t->all);
	readings_write(p, "ddot_", t->cg.ddot_flops, t->ddot);
	result_value(p, "error", worst);
}

/* The largest error of all ranks; all ranks get it. */
static double worst_tell(struct comm *c, double worst)
{
	/* In units that an integer can carry; a hopeless error is limited. */
	const double unit = 1e-15, limit = 1e18;

	return (double)comm_tell(c, comm_most(c, (uint64_t)fmin(worst / unit, limit))) * unit;
}

/* Argument and result of core_share. */
struct cg_sharing {
	bool served;
	double worst;
};

static void core_share(struct bench_run *run, struct core_sharing sharing, void *ctx)
{
	struct comm *c = run->comm;
	struct cg_sharing *about = ctx;
	struct cg_times t = {.skip = run->opt->warmup, .served = about->served};
	struct samples all = {0};
	double worst;
	/* The warm-up is in `skip`, so measure() has none of its own. */
	const struct measure_how how = {.sample = solve_measure, .ctx = &t, .warm = true};
	char name[32];

	snprintf(name, sizeof(name), "V=%d", sharing.ranks);
	cg_init(&t.cg, c);
	c->ops->mark_begin(c, 1, name);
	measure(run, &how, &all);
	c->ops->mark_end(c, 1);
	worst = worst_tell(c, t.worst);
	about->worst = fmax(about->worst, worst);
	if (c->rank == 0)
		point_write(run, &t, worst);
	for (int i = 0; i < READING_CNT; i++) {
		samples_release(&t.all[i]);
		samples_release(&t.ddot[i]);
	}
	samples_release(&all);
	cg_release(&t.cg);
}

static int cg_run(struct bench_run *run)
{
	struct cg_sharing about = {.served = bench_clocks_served(run)};

	core_sharing_each(run, core_share, &about);
	about.worst = worst_tell(run->comm, about.worst);
	if (about.worst <= ERROR_MAX)
		return 0;
	if (run->comm->rank == 0)
		log_error("cg: the solution is off by %g; the messages or the sums are wrong",
			  about.worst);
	return -EPROTO;
}

/* About 50 iterations of 38 operations per row at 1 ns each; ranks wait three times in each. */
static uint64_t cg_estimate_ns(const struct bench_run *run)
{
	double total_ns = 0, one_ns;

	for (int v = 1; v <= core_sharing_most(run->comm); v++) {
		one_ns = 50.0 * (38.0 * ROWS * FLOP_NS * v + 3 * estimate_shared_wait_ns(run, v));
		total_ns += estimate_point_ns(run->opt, one_ns);
	}
	return (uint64_t)total_ns;
}

const struct bench bench_cg = {
	.name = "cg",
	.group = "timers",
	.brief = "a conjugate-gradient solve's MFLOP/s by MPI_Wtime and by CPU time, with ranks "
		 "sharing a core",
	.source = "Nigay et al. 2020, 3.1, table 2",
	.kind = RESULT_TIMERS,
	.ranks_min = 1,
	.shares_cores = true,
	.nodes = BENCH_NODE_ONE,
	.run = cg_run,
	.estimate_ns = cg_estimate_ns,
};
