/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows whether several ranks on a core hide communication. Ranks of a 2-D stencil compute, then
 * exchange halos with four neighbours (four receives, four sends, one wait for all of them). A
 * rank does not try to overlap the two, so any overlap comes from another rank of the core that
 * computes meanwhile. Either phase can be left out, which gives T_comp and T_comm beside T_full.
 * Method: Nigay et al. 2020, section 4.1 and listing 4, for V = 1 … 4 ranks per core.
 *
 * The grid is a helix: rank r's neighbours are r ± 1 and r ± width, modulo the number of ranks.
 * The width is chosen so that no neighbour is on the same core. With several nodes, to which ranks
 * are dealt out in turn, none is on the same node (the paper's runs had no communication within a
 * node, section 4.2). The nodes' clocks are corrected for offset and drift. Each core has the same
 * amount of computation for every V, so a rank has a V-th of it. It is always an amount of work,
 * because ranks that compute until a deadline would all compute at once on one core. The size is
 * that of one message.
 *
 * "comp", "comm" and "full" are times of an iteration, from the first rank's start to the last
 * one's end. "waitall" are the single waits of all ranks during "full" (figure 7). The value
 * "overlap" puts the paper's three cases on one scale, (T_comp + T_comm − T_full) / min(T_comp,
 * T_comm): 1 if the shorter phase is hidden entirely, 0 if the phases follow each other.
 * "comp_stretch" is T_comp over the time on an undisturbed core. Well above 1, something else ran,
 * and the rest means little.
 *
 * Expected results. V = 1: 0 on any machine. V >= 2, if a waiting rank gives up its core at once
 * and transfers progress by themselves: 1, and "full" is max(comp, comm). If nothing progresses
 * outside of calls and a rendezvous takes two steps: partial for V = 2, with two kinds of waits,
 * and more for V = 3. If the cores themselves copy the data (shared memory, loopback),
 * communication is work for the same cores: 0, except for their idle time. If a waiting rank keeps
 * its core: "comm" is in time slices of the scheduler for V >= 2, and any overlap only hides an
 * avoidable loss. Then the library must be set to yield. (Open MPI: mpi_yield_when_idle, which
 * mpirun sets when it detects oversubscription. MPICH: MPIR_CVAR_POLLS_BEFORE_YIELD, if it was
 * built with yielding.) Both are among a result's factors.
 */
#include "lib/human.h"
#include "core/bench.h"
#include "core/gather.h"
#include "core/nodes.h"
#include "core/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NEIGHBOURS = 4, ROUNDS = 10 };
/* Larger halos are rare, and each rank needs at least eight of them in memory. */
#define HALO_MAX_BYTES (16u << 20)
/* Least share of the longer phase that the shorter one must have for the overlap to be reported. */
#define SHORTER_LEAST 0.1
/*
 * Shorter computations drown in the cost of switching ranks. The options' maximum takes
 * precedence.
 */
#define COMPUTE_LEAST_NS 100000.0

enum phase { PHASE_COMP = 0x1, PHASE_COMM = 0x2 };

struct stencil {
	int to[NEIGHBOURS], from[NEIGHBOURS];
	void *out, *in[NEIGHBOURS];
	struct comm_request request[2 * NEIGHBOURS];
	size_t bytes;
	uint64_t compute_ns; /* of a rank, each iteration */
	unsigned int phases;
	struct node_clock clock;
	uint64_t skip;	      /* number of samples whose waits are dropped: the warm-up */
	struct samples waits; /* this rank's */
};

/* State of the sweep over all placements. */
struct sweep_state {
	struct sweep bytes;
	size_t done, all;
};

/* ---- the grid ---- */

/*
 * A width for an approximately square grid that is no multiple of the number of cores. With
 * several nodes it is not even a multiple of the number of nodes.
 */
static int grid_width(struct core_sharing sharing)
{
	int width = (int)sqrt(sharing.ranks),
	    apart = sharing.nodes > 1 ? sharing.nodes : sharing.cores;

	while (width > 1 && apart > 1 && width % apart == 0)
		width--;
	return width < 1 ? 1 : width;
}

static void grid_init(struct stencil *s, const struct comm *c, struct core_sharing sharing)
{
	int n = c->size, width = grid_width(sharing) % n;
	const int step[NEIGHBOURS] = {1, n - 1, width, n - width};

	for (int i = 0; i < NEIGHBOURS; i++) {
		s->to[i] = (c->rank + step[i]) % n;
		s->from[i] = (c->rank + n - step[i]) % n;
	}
}

/* ---- one iteration ---- */

/* A halo keeps its direction i as tag, because two ranks may be neighbours more than once. */
static void halo_exchange(struct comm *c, struct stencil *s, bool keep)
{
	struct comm_request *r = s->request;
	struct comm_msg m = {.bytes = s->bytes, .layout = COMM_CONTIGUOUS};
	uint64_t begin_ns;

	for (int i = 0; i < NEIGHBOURS; i++) {
		m.buf = s->in[i];
		c->ops->irecv(c, &m, s->from[i], i, &r[i]);
	}
	m.buf = s->out;
	for (int i = 0; i < NEIGHBOURS; i++)
		c->ops->isend(c, &m, s->to[i], i, &r[NEIGHBOURS + i]);
	begin_ns = c->ops->now_ns(c);
	c->ops->waitall(c, r, 2 * NEIGHBOURS);
	if (keep)
		samples_add(&s->waits, (double)(c->ops->now_ns(c) - begin_ns));
}

static double iterate(struct bench_run *run, void *ctx)
{
	const struct compute how = {.kind = COMPUTE_WORK, .cores = COMPUTE_ONE};
	struct comm *c = run->comm;
	struct stencil *s = ctx;
	uint64_t start_ns = c->ops->now_ns(c);
	bool keep = s->skip == 0;

	for (int i = 0; i < ROUNDS; i++) {
		if (s->phases & PHASE_COMP)
			c->ops->compute(c, &how, s->compute_ns);
		if (s->phases & PHASE_COMM)
			halo_exchange(c, s, keep);
	}
	s->skip -= s->skip > 0;
	return gather_span_ns(c, &s->clock, start_ns, c->ops->now_ns(c)) / ROUNDS;
}

/* ---- a placement: V and the cores are set, the sizes are swept ---- */

static void phase_measure(struct bench_run *run, struct stencil *s, unsigned int phases,
			  const char *name, struct samples *out)
{
	/* The warm-up is in `skip`, so measure() has none of its own. */
	const struct measure_how how = {.sample = iterate, .ctx = s, .warm = true};
	struct comm *c = run->comm;

	s->phases = phases;
	s->skip = run->opt->warmup;
	samples_clear(&s->waits);
	node_clock_measure(c, &s->clock);
	c->ops->mark_begin(c, 2, name);
	measure(run, &how, out);
	c->ops->mark_end(c, 2);
}

static uint32_t seed_of(int rank, size_t bytes)
{
	return (uint32_t)rank * 2654435761u + (uint32_t)bytes;
}

static void buffers_init(const struct comm *c, struct stencil *s)
{
	s->out = bench_buffer_new(s->bytes, COMM_CONTIGUOUS);
	bench_buffer_fill(s->out, s->bytes, COMM_CONTIGUOUS, seed_of(c->rank, s->bytes));
	for (int i = 0; i < NEIGHBOURS; i++) {
		s->in[i] = bench_buffer_new(s->bytes, COMM_CONTIGUOUS);
		/* Fill with wrong data, so that a message that never arrives is detected. */
		bench_buffer_fill(s->in[i], s->bytes, COMM_CONTIGUOUS,
				  ~seed_of(s->from[i], s->bytes));
	}
}

static void buffers_release(struct stencil *s)
{
	free(s->out);
	for (int i = 0; i < NEIGHBOURS; i++)
		free(s->in[i]);
}

static void buffers_check(const struct stencil *s)
{
	for (int i = 0; i < NEIGHBOURS; i++)
		bench_buffer_check(s->in[i], s->bytes, COMM_CONTIGUOUS,
				   seed_of(s->from[i], s->bytes));
}

/*
 * The interval is the widest that the three medians' intervals allow. If one phase is much shorter
 * than the other, the other's variation hides it, and nothing is reported.
 */
static void overlap_add(struct result_point *p, const struct samples *comp_ns,
			const struct samples *comm_ns, const struct samples *full_ns)
{
	struct summary comp, comm, full;
	double shorter;

	stats_summarize(comp_ns, &comp);
	stats_summarize(comm_ns, &comm);
	stats_summarize(full_ns, &full);
	shorter = fmin(comp.median, comm.median);
	if (shorter < SHORTER_LEAST * fmax(comp.median, comm.median))
		return;
	result_value(p, "overlap", (comp.median + comm.median - full.median) / shorter);
	result_value(p, "overlap_low", (comp.ci_low + comm.ci_low - full.ci_high) / shorter);
	result_value(p, "overlap_high", (comp.ci_high + comm.ci_high - full.ci_low) / shorter);
}

static void point_write(struct bench_run *run, struct core_sharing sharing, const struct stencil *s,
			const struct samples *comp, const struct samples *comm,
			const struct samples *full, const struct samples *waits)
{
	int per_core = sharing.ranks / sharing.cores;
	struct result_point *p;

	if (run->comm->rank != 0)
		return;
	p = result_point_add(run->result);
	result_param(p, "bytes", s->bytes);
	result_param(p, "compute_ns", s->compute_ns * (uint64_t)per_core);
	result_param(p, "ranks_per_core", (uint64_t)per_core);
	result_param(p, "cores", (uint64_t)sharing.cores);
	if (sharing.nodes > 1)
		result_param(p, "nodes", (uint64_t)sharing.nodes);
	result_time(p, "comp", comp);
	result_time(p, "comm", comm);
	result_time(p, "full", full);
	result_time(p, "waitall", waits);
	result_value(p, "comp_stretch",
		     stats_quantile(comp, 0.5) / ((double)s->compute_ns * per_core));
	overlap_add(p, comp, comm, full);
}

static void size_measure(struct bench_run *run, struct core_sharing sharing, struct stencil *s,
			 const struct samples *comp)
{
	struct samples comm = {0}, full = {0}, waits = {0};

	buffers_init(run->comm, s);
	phase_measure(run, s, PHASE_COMM, "comm", &comm);
	phase_measure(run, s, PHASE_COMP | PHASE_COMM, "full", &full);
	if (run->opt->validate)
		buffers_check(s);
	gather_samples(run->comm, &s->waits, &waits);
	point_write(run, sharing, s, comp, &comm, &full, &waits);
	buffers_release(s);
	samples_release(&waits);
	samples_release(&full);
	samples_release(&comm);
}

/*
 * Computation of a core in each iteration: the middle of the options' range, constant as in figure
 * 5.
 */
static double core_compute_ns(const struct bench_options *opt)
{
	double most = (double)opt->compute_max_ns;
	double least = fmin(fmax((double)opt->compute_min_ns, COMPUTE_LEAST_NS), most);

	return fmax(sqrt(least * most), 1);
}

static void placement_measure(struct bench_run *run, struct core_sharing sharing, void *ctx)
{
	struct sweep_state *state = ctx;
	struct stencil s = {.bytes = 0};
	struct samples comp = {0};
	char size[HUMAN_BYTES], name[64];
	int ratio = sharing.ranks / sharing.cores;

	grid_init(&s, run->comm, sharing);
	run->comm->ops->requests_prepare(run->comm, s.request, 2 * NEIGHBOURS);
	s.compute_ns = (uint64_t)(core_compute_ns(run->opt) * sharing.cores / sharing.ranks);
	snprintf(name, sizeof(name), "V=%d", ratio);
	run->comm->ops->mark_begin(run->comm, 1, name);
	phase_measure(run, &s, PHASE_COMP, "comp", &comp);
	run->comm->ops->mark_end(run->comm, 1);
	for (size_t i = 0; i < state->bytes.cnt; i++) {
		s.bytes = state->bytes.value[i];
		snprintf(name, sizeof(name), "V=%d, %s", ratio,
			 human_bytes(size, sizeof(size), s.bytes));
		run->comm->ops->mark_begin(run->comm, 1, name);
		size_measure(run, sharing, &s, &comp);
		run->comm->ops->mark_end(run->comm, 1);
		bench_progress(run, ++state->done, state->all);
	}
	run->comm->ops->requests_release(run->comm, s.request, 2 * NEIGHBOURS);
	samples_release(&comp);
	samples_release(&s.waits);
}

/* ---- all placements ---- */

/*
 * Chooses the number of cores, the same for all V so that only V differs: as many as can have four
 * ranks each, equally many on each node. With a single core, V = 1 has no partner, so it uses two
 * cores if they exist. Returns the number of placements.
 */
static int placements_choose(int ranks, int core_cnt, int nodes,
			     struct core_sharing out[RANKS_PER_CORE_MAX])
{
	int cores = ranks / RANKS_PER_CORE_MAX, cnt = 0;

	if (cores > core_cnt)
		cores = core_cnt;
	cores -= cores % nodes;
	if (cores < nodes)
		cores = nodes;
	if (cores > 1)
		out[cnt++] = (struct core_sharing){.ranks = cores, .cores = cores, .nodes = nodes};
	else if (core_cnt > 1)
		out[cnt++] = (struct core_sharing){.ranks = 2, .cores = 2, .nodes = 1};
	for (int v = 2; v <= RANKS_PER_CORE_MAX && v * cores <= ranks; v++)
		out[cnt++] =
			(struct core_sharing){.ranks = v * cores, .cores = cores, .nodes = nodes};
	return cnt;
}

/* The least number of cores of a node; all ranks get the result. */
static int cores_least(struct comm *c)
{
	return (int)comm_tell(c, comm_least(c, (uint64_t)core_sharing_core_cnt(c)));
}

static void sizes_init(const struct bench_options *opt, struct sweep *s)
{
	uint64_t max = opt->bytes_max < HALO_MAX_BYTES ? opt->bytes_max : HALO_MAX_BYTES;

	sweep_init(s, opt->bytes_min < max ? opt->bytes_min : max, max, opt->step, 1, 1);
}

static int stencil_run(struct bench_run *run)
{
	struct core_sharing sharing[RANKS_PER_CORE_MAX];
	struct sweep_state state = {.done = 0};
	struct nodes nodes;
	int cnt;

	nodes_init(run->comm, &nodes);
	cnt = placements_choose(run->comm->size, cores_least(run->comm) * nodes.cnt, nodes.cnt,
				sharing);
	nodes_release(&nodes);
	sizes_init(run->opt, &state.bytes);
	state.all = state.bytes.cnt * (size_t)cnt;
	for (int i = 0; i < cnt; i++)
		core_sharing_run(run, sharing[i], placement_measure, &state);
	sweep_release(&state.bytes);
	return 0;
}

/* For each size, communication alone and both phases. A message takes 10 µs and ½ ns per byte. */
static uint64_t stencil_estimate_ns(const struct bench_run *run)
{
	double total = 0, compute_ns = core_compute_ns(run->opt), wait_ns, one_ns;
	struct sweep s;

	sizes_init(run->opt, &s);
	for (int v = 1; v <= RANKS_PER_CORE_MAX && v <= run->comm->size; v++) {
		wait_ns = estimate_shared_wait_ns(run, v);
		total += estimate_point_ns(run->opt, ROUNDS * compute_ns + wait_ns);
		for (size_t i = 0; i < s.cnt; i++) {
			one_ns = v * NEIGHBOURS * (1e4 + 0.5 * (double)s.value[i]) + wait_ns;
			total += estimate_point_ns(run->opt, ROUNDS * one_ns);
			total += estimate_point_ns(run->opt, ROUNDS * (one_ns + compute_ns));
		}
	}
	sweep_release(&s);
	return (uint64_t)total;
}

const struct bench bench_stencil = {
	.name = "stencil",
	.group = "stencil",
	.brief = "halo exchange with 1 to 4 ranks per core; the library must yield when it waits",
	.source = "Nigay et al. 2020, 4.1, listing 4",
	.kind = RESULT_STENCIL,
	.ranks_min = 2,
	.shares_cores = true,
	.nodes = BENCH_NODES_IN_TURN,
	.run = stencil_run,
	.estimate_ns = stencil_estimate_ns,
};
