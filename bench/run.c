/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Runs a plan. Prints an estimate of the duration, skips what cannot run or (with --resume) was
 * measured before, writes each result as soon as it is complete, and writes partial results
 * periodically. Rank 0 decides and sends its decisions to the others. Ranks that a benchmark does
 * not use sleep meanwhile. In an MPI barrier they would poll and take cores from the measurement.
 */
#include "run.h"

#include "lib/clock.h"
#include "lib/human.h"
#include "lib/log.h"
#include "core/algorithm.h"
#include "core/classify.h"
#include "core/overlap_map.h"
#include "core/cpu_list.h"
#include "core/bench.h"
#include "core/host.h"
#include "core/result_file.h"
#include "core/nodes.h"
#include "core/param_text.h"
#include "core/comm.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CORE_WAIT_MANY 0.02	    /* share of the time; on a quiet node it is far lower */
#define LINE_NS 200000000ull	    /* between updates of the progress line on a terminal */
#define LOG_NS 15000000000ull	    /* between lines of a log */
#define LEFT_AFTER_NS 2000000000ull /* earlier, the remaining time is only a guess */
#define KEEP_NS 10000000000ull	    /* between writes of a partial result */

struct progress {
	const char *name;
	uint64_t began_ns, last_ns, kept_ns;
	bool terminal;
	struct result *result;
	struct result_file *file; /* null: none */
};

struct session {
	struct comm *c;
	const struct run_plan *plan;
	struct result_file *file; /* rank 0, if there is one */
	json_t *options;	  /* rank 0 */
	char *name;		  /* name of a result with an algorithm, else null; rank 0; owned */
	struct estimate_machine machine; /* rank 0 */
	struct nodes nodes;
	struct progress progress;
	struct samples line; /* from the points of all maps (overlap_map.h); rank 0; owned */
};

/* ---- messages of rank 0 ---- */

/* Writes a partial result. Called between two points, where it disturbs no measurement. */
static void progress_keep(struct progress *p, uint64_t now_ns)
{
	if (!p->file || !result_point_cnt(p->result) ||
	    (p->kept_ns && now_ns - p->kept_ns < KEEP_NS))
		return;
	result_file_keep(p->file, p->result, now_ns - p->began_ns);
	p->kept_ns = clock_now_ns();
}

static void progress_show(void *ctx, size_t done, size_t all)
{
	struct progress *p = ctx;
	uint64_t now_ns = clock_now_ns(), spent_ns = now_ns - p->began_ns;
	char left[HUMAN_BYTES] = "?";

	if (done < all)
		progress_keep(p, now_ns);
	if (!all || now_ns - p->last_ns < (p->terminal ? LINE_NS : LOG_NS))
		return;
	p->last_ns = now_ns;
	if (done && spent_ns > LEFT_AFTER_NS)
		human_ns(left, sizeof(left),
			 (uint64_t)((double)spent_ns / (double)done * (double)(all - done)));
	if (p->terminal)
		fprintf(stderr, "\r\033[K%s: %zu of %zu points, %s left ", p->name, done, all,
			left);
	else
		log_info("%s: %zu of %zu points, %s left", p->name, done, all, left);
}

static void progress_begin(struct progress *p, const char *name, struct result *r)
{
	p->name = name;
	p->result = r;
	p->began_ns = p->last_ns = clock_now_ns();
	p->kept_ns = 0; /* write after the first point */
	p->terminal = isatty(STDERR_FILENO);
}

static void progress_end(const struct progress *p)
{
	if (p->terminal)
		fputs("\r\033[K", stderr);
}

static const char *feature_missing(uint32_t missing)
{
	if (missing & COMM_HAS_PARTITIONED)
		return "partitioned communication (MPI 4)";
	if (missing & COMM_HAS_MULTIPLE)
		return "MPI_THREAD_MULTIPLE (option --thread-multiple, or a library that provides "
		       "it)";
	if (missing & COMM_HAS_THREADS)
		return "threads";
	if (missing & COMM_HAS_OPENMP)
		return "OpenMP";
	if (missing & COMM_HAS_RMA)
		return "one-sided communication";
	return "something that this MPI does not have";
}

/* True if the ranks are on suitable nodes for b; otherwise prints why not. */
static bool nodes_fit(const struct session *s, const struct bench *b)
{
	int cnt = s->nodes.cnt, sharing = core_sharing_most(s->c);
	const char *left_out = s->plan->suite ? "left out: " : "";

	if (b->nodes == BENCH_NODE_ONE && nodes_leading(&s->nodes) < sharing) {
		log_warn("%s: %sranks 0 to %d are to share a core, and are on several nodes; start "
			 "them on one (mpirun -np %d --map-by slot with Open MPI, -ppn %d with "
			 "MPICH)",
			 b->name, left_out, sharing - 1, sharing, sharing);
		return false;
	}
	if (b->nodes == BENCH_NODES_IN_TURN && !nodes_in_turn(&s->nodes)) {
		log_warn("%s: %sranks must be dealt out to the %d nodes in turn, so that each has "
			 "as many: mpirun --map-by node with Open MPI, -ppn 1 with MPICH",
			 b->name, left_out, cnt);
		return false;
	}
	return true;
}

/* True if b can run here; otherwise rank 0 prints why not. All ranks get the same answer. */
static bool can_run(const struct session *s, const struct bench *b)
{
	uint32_t missing = b->needs & ~s->c->features;

	if (s->c->size < b->ranks_min)
		log_warn("%s: %sneeds %d ranks, there %s %d; mpirun -np %d povbench %s", b->name,
			 s->plan->suite ? "left out: " : "", b->ranks_min,
			 s->c->size == 1 ? "is" : "are", s->c->size, b->ranks_min, b->name);
	else if (missing)
		log_warn("%s: %sneeds %s", b->name, s->plan->suite ? "left out: " : "",
			 feature_missing(missing));
	return s->c->size >= b->ranks_min && !missing && nodes_fit(s, b);
}

static int ranks_of(const struct session *s, const struct bench *b)
{
	return b->ranks_max && s->c->size > b->ranks_max ? b->ranks_max : s->c->size;
}

static struct result_about about(const struct session *s, const struct bench *b)
{
	return (struct result_about){
		.benchmark = s->name ? s->name : b->name,
		.group = b->group,
		.brief = b->brief,
		.source = b->source,
		.kind = b->kind,
		.ranks = ranks_of(s, b),
		.options = s->options,
		.keep_samples = s->plan->opt.keep_samples,
	};
}

static bool has_result(const struct session *s, const struct bench *b)
{
	struct result_about what = about(s, b);

	return s->plan->resume && s->file && result_file_has(s->file, &what);
}

static bool needs_run(const struct session *s, const struct bench *b)
{
	return s->c->size >= b->ranks_min && !(b->needs & ~s->c->features) && !has_result(s, b);
}

static uint64_t estimate_ns(const struct session *s, const struct bench *b)
{
	struct comm few = *s->c;
	struct bench_run run = {
		.bench = b, .comm = &few, .opt = &s->plan->opt, .machine = &s->machine};

	few.size = ranks_of(s, b);
	return b->estimate_ns ? b->estimate_ns(&run) : 0;
}

static void estimate_print(const struct session *s)
{
	uint64_t sum_ns = 0;
	size_t cnt = 0;
	char text[HUMAN_BYTES];

	for (const struct bench **b = s->plan->bench; *b; b++) {
		if (!needs_run(s, *b))
			continue;
		sum_ns += estimate_ns(s, *b);
		cnt++;
	}
	if (!cnt)
		return;
	if (estimate_crowded(&s->machine, s->c->size))
		log_warn("%d ranks on %d core%s, and the library keeps its core when it waits: "
			 "most times will be the scheduler's; Open MPI has --mca "
			 "mpi_yield_when_idle 1",
			 s->machine.node_ranks, s->machine.core_cnt, plural_s(s->machine.core_cnt));
	log_info("%zu benchmark%s on %d rank%s, about %s at most", cnt, plural_s((double)cnt),
		 s->c->size, plural_s(s->c->size), human_ns(text, sizeof(text), sum_ns));
}

/* ---- running ---- */

static int keep_result(struct session *s, struct result *r)
{
	const json_t *point;
	size_t i;

	json_array_foreach(json_object_get(result_json(r), "points"), i, point)
		map_line_add(&s->line, point);
	classify_set(r);
	result_print(r, s->plan->peers, stdout);
	fflush(stdout);
	return s->file ? result_file_add(s->file, r) : 0;
}

/* Time that this rank has waited for a core so far; UINT64_MAX if unknown. */
static uint64_t core_wait_now(const struct comm *c)
{
	uint64_t ns;

	if (c->features & COMM_VIRTUAL_TIME || !host_core_wait_ns(&ns))
		return UINT64_MAX;
	return ns;
}

/* The same for all ranks since `before`, on rank 0; NaN if unknown. All ranks of c call it. */
static double core_wait_since(struct comm *c, uint64_t before)
{
	uint64_t now = core_wait_now(c);
	bool known = before != UINT64_MAX && now != UINT64_MAX;
	uint64_t unknown = comm_sum(c, !known), sum = comm_sum(c, known ? now - before : 0);

	return unknown ? NAN : (double)sum;
}

static void result_set_effort(const struct bench *b, const struct comm *c, struct result *r,
			      double took_ns, double core_wait_ns)
{
	double share = core_wait_ns / took_ns / c->size;
	char *what;

	result_effort(r, took_ns, core_wait_ns);
	if (share > CORE_WAIT_MANY && !b->shares_cores) {
		what = xasprintf("its ranks waited for a core %.1f %% of the time", 100 * share);
		result_disturbed(r, what);
		free(what);
	}
	if (!(c->features & COMM_VIRTUAL_TIME) && probed_mpi())
		result_disturbed(r, "a tracer has changed the code of the MPI library");
}

static struct result *begin_result(struct session *s, const struct result_about *what)
{
	const json_t *part = s->plan->resume && s->file ? result_file_part(s->file, what) : NULL;
	struct result *r = result_new(what);

	if (part) {
		log_info("%s: %s has %zu points of it; the rest is measured", what->benchmark,
			 s->plan->output, json_array_size(json_object_get(part, "points")));
		result_go_on(r, part);
	}
	return r;
}

/* Runs b on the ranks that take part. */
static int take_part(struct session *s, const struct bench *b, struct comm *c)
{
	struct result_about what = about(s, b);
	struct bench_run run = {
		.bench = b, .comm = c, .opt = &s->plan->opt, .resume = s->plan->resume};
	uint64_t began_ns = clock_now_ns(), core_wait = core_wait_now(c);
	double core_wait_ns;
	int err;

	if (!c->rank) {
		run.result = begin_result(s, &what);
		run.progress = progress_show;
		run.progress_ctx = &s->progress;
		progress_begin(&s->progress, b->name, run.result);
	}
	c->ops->mark_begin(c, 0, b->name);
	err = b->run(&run);
	c->ops->mark_end(c, 0);
	core_wait_ns = core_wait_since(c, core_wait);
	if (!c->rank) {
		progress_end(&s->progress);
		result_set_effort(b, c, run.result, (double)(clock_now_ns() - began_ns),
				  core_wait_ns);
		if (!err)
			err = keep_result(s, run.result);
		result_free(run.result);
	}
	return err;
}

static int run_bench(struct session *s, const struct bench *b)
{
	int ranks = ranks_of(s, b), err;
	struct comm *few;

	if (ranks == s->c->size)
		return take_part(s, b, s->c);
	few = comm_few_begin(s->c, ranks);
	if (!few)
		return 0;
	err = take_part(s, b, few);
	comm_few_end(s->c, few);
	return err;
}

/* Prints the line (overlap_map.h) of this machine, from all maps of the run. */
static void map_line_print(const struct session *s)
{
	char *text = map_line_text(map_line(&s->line));

	if (text)
		printf("# %s\n", text);
	free(text);
}

static int run_all(struct session *s)
{
	size_t left_out = 0, measured = 0;
	int status = 0;

	estimate_probe(s->c, &s->machine);
	if (!s->c->rank)
		estimate_print(s);
	for (const struct bench **b = s->plan->bench; *b; b++) {
		bool there;
		int err;

		if (!can_run(s, *b)) {
			status |= !s->plan->suite;
			continue;
		}
		there = comm_tell(s->c, has_result(s, *b));
		if (there) {
			left_out++;
			continue;
		}
		measured++;
		err = run_bench(s, *b);
		status |= comm_tell(s->c, err != 0) != 0;
	}
	if (!s->c->rank)
		map_line_print(s);
	if (left_out && !measured)
		log_info("%s: launch %zu has all of it; nothing was measured", s->plan->output,
			 s->file ? result_file_launch(s->file) : 0);
	return status;
}

/* Number of ranks on rank 0's node. */
static int ranks_beside(const json_t *factors)
{
	json_t *ranks = json_object_get(factors, "ranks"), *r;
	const json_t *first = json_object_get(json_array_get(ranks, 0), "host");
	int cnt = 0;
	size_t i;

	json_array_foreach(ranks, i, r) cnt += json_equal(json_object_get(r, "host"), first);
	return cnt;
}

/*
 * Opens the file and checks, before anything is measured, that this launch may be added to it.
 * Takes ownership of factors.
 */
static int open_file(struct session *s, json_t *factors)
{
	int err = result_file_open(s->plan->output, factors, s->plan->resume, &s->file);
	size_t launch;

	for (const struct bench **b = s->plan->bench; !err && *b; b++) {
		struct result_about what = about(s, *b);

		err = result_file_check(s->file, &what);
	}
	if (err)
		return err;
	launch = result_file_launch(s->file);
	if (s->plan->resume && result_file_holds(s->file))
		log_info("%s: goes on with launch %zu", s->plan->output, launch);
	else if (launch > 1)
		log_info("%s: this is launch %zu in it", s->plan->output, launch);
	s->progress.file = s->file;
	return 0;
}

/*
 * Names the result after the library's algorithm. Removes the variables that chose it from the
 * factors, because launches with different algorithms may share a file.
 */
static int algorithm_begin(struct session *s, json_t *factors)
{
	const char *value = s->plan->opt.algorithm, *coll = s->plan->bench[0]->collective;
	const struct algorithm *a;
	struct algorithm_list list;
	int err = 0;

	if (!value)
		return 0;
	algorithm_list_init(&list, coll);
	a = algorithm_find(&list, value);
	if ((!a || !algorithm_taken(coll, value)) && strcmp(value, ALGORITHM_DEFAULT)) {
		log_error("--algorithm: the library %s \"%s\" for %s; \"povbench algorithms %s\" "
			  "lists what it has",
			  a ? "did not take" : "has no", value, coll, s->plan->bench[0]->name);
		err = -EINVAL;
	} else {
		s->name = xasprintf("%s:%s", s->plan->bench[0]->name, a ? a->name : value);
		json_put(s->options, "algorithm_name", json_string(a ? a->name : value));
		algorithm_forget(coll, json_object_get(factors, "environment"));
	}
	algorithm_list_release(&list);
	return err;
}

static int session_begin(struct session *s)
{
	json_t *factors = s->c->rank ? NULL : json_object();
	int err = 0;

	if (factors)
		host_factors(factors);
	mpi_factors(s->c, factors);
	nodes_init(s->c, &s->nodes);
	s->machine.node_ranks = ranks_beside(factors);
	if (!s->c->rank) {
		s->options = args_json(&s->plan->opt);
		json_put(s->options, "multiple", json_boolean(s->plan->thread_multiple));
		err = algorithm_begin(s, factors);
		if (!err && s->plan->output)
			err = open_file(s, factors);
		else
			json_decref(factors);
	}
	return (int)comm_tell(s->c, err != 0);
}

/*
 * False if a rank is bound to a single core, so that it has no further cores to compute on. Same on
 * all ranks.
 */
static bool cores_suffice(struct comm *c, const struct run_plan *plan)
{
	struct cpu_list own;
	cpu_set_t mask;
	uint64_t few;
	bool one;

	if (plan->opt.compute.cores != COMPUTE_ALL || c->features & COMM_VIRTUAL_TIME ||
	    sched_getaffinity(0, sizeof(mask), &mask))
		return true;
	cpu_list_init(&own, &mask);
	one = own.core_cnt == 1;
	cpu_list_release(&own);
	few = comm_sum(c, one);
	if (!c->rank && few > 0)
		log_error("--compute-cores all: %" PRIu64
			  " of %d ranks may use one core only; start them "
			  "without binding (Open MPI: --bind-to none, MPICH: -bind-to none)",
			  few, c->size);
	return !comm_tell(c, few > 0);
}

int run_plan(struct comm *c, const struct run_plan *plan)
{
	struct session s = {.c = c, .plan = plan};
	int status = !cores_suffice(c, plan) || session_begin(&s);

	if (!status)
		status = run_all(&s);
	nodes_release(&s.nodes);
	result_file_free(s.file);
	json_decref(s.options);
	free(s.name);
	samples_release(&s.line);
	return status;
}
