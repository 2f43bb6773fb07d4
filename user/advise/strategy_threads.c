/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Threads per rank against cores and affinity masks.
 *
 * Data: on each host, the groups of ranks that may use the same CPUs; their computing threads; and
 * samples of where these threads run (by record, 97 a second on each CPU). A sample is in the
 * program or in an OpenMP runtime, where a thread waits busily for its team or for work.
 *
 * Rule: a group has more computing threads than CPUs, and spends CPU time in such waiting.
 *
 * Gain: with one thread per CPU, nobody waits for a thread without a core. The gain is the CPU time
 * of the waiting, at the rate at which these ranks got CPU time. The share of samples has a 95 %
 * interval (Wilson 1927), whose lower end is the certain gain. The high end adds the time that the
 * ranks polled in MPI, because they may have waited for ranks delayed in this way.
 *
 * A runtime that knows that it has too few cores lets its threads sleep instead. Its computing
 * threads then share the cores and lose nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advise.h"
#include "advise/library.h"
#include "analysis/advice.h"
#include "analysis/find.h"
#include "lib/log.h"
#include "lib/table.h"

/* A thread counts as computing if it computes, or wants to, for at least 1/BUSY_PART of the run. */
#define BUSY_PART 4
#define SAMPLES_LEAST 30 /* fewer samples do not distinguish busy waiting from work */
#define Z_95 1.96

struct threads_row {
	struct model_mask cpus; /* last known mask */
	uint64_t samples, in_runtime;
};

/* Ranks of a host that share CPUs. */
struct threads_group {
	struct model_mask cpus;
	/* busy: computing threads of all ranks; busy_most: of the rank with most. */
	uint32_t ncpu, ranks, busy, busy_most;
	uint32_t first; /* idx of one of its ranks */
	uint64_t samples, in_runtime;
	/* CPU time outside MPI, in calls that wait, and in other calls. */
	uint64_t computed_ns, waited_ns, worked_ns;
};

struct threads {
	struct advise *a;
	struct model_sink sink;
	struct threads_row *thread; /* by thread idx; owned */
	uint32_t nthread;
};

/* ---- data ---- */

static void on_affinity(void *ctx, const struct model_affinity *f)
{
	struct threads *t = ctx;
	struct threads_row *row = table_row(t->thread, t->nthread, f->thread->idx);

	row->cpus = f->cpus;
}

/* File names of the GNU, LLVM and Intel runtimes. */
static bool is_runtime(const struct model_site *at)
{
	static const char *const names[] = {"libgomp.so", "libomp.so", "libomp-", "libiomp5.so"};
	const char *name = at->module ? strrchr(at->module->path, '/') : NULL;

	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(name + 1, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

static void on_sample(void *ctx, const struct model_sample *s)
{
	struct threads *t = ctx;
	struct threads_row *row;

	if (s->by_stack) /* the thread need not be running */
		return;
	row = table_row(t->thread, t->nthread, s->thread->idx);
	row->samples++;
	row->in_runtime += is_runtime(&s->at);
}

static void *begin(struct advise *a)
{
	struct threads *t = xcalloc(1, sizeof(*t));

	t->a = a;
	t->sink = (struct model_sink){.ctx = t, .affinity = on_affinity, .sample = on_sample};
	return t;
}

static const struct model_sink *sink(void *data)
{
	return &((struct threads *)data)->sink;
}

static void release(void *data)
{
	struct threads *t = data;

	free(t->thread);
	free(t);
}

/* ---- groups ---- */

static bool overlaps(const struct model_mask *a, const struct model_mask *b)
{
	return table_any(MODEL_MASK_WORDS, i, a->word[i] & b->word[i]);
}

static void thread_add(struct threads *t, uint32_t idx, struct threads_group *g, uint32_t *busy)
{
	const struct app_thread *app = &t->a->findings.app.thread[idx];
	const struct threads_row *row = table_row(t->thread, t->nthread, idx);

	g->waited_ns += app->wait_ns;
	g->worked_ns += app->work_ns;
	if (app->compute_ns + app->no_core_ns < t->a->run_ns / BUSY_PART)
		return;
	(*busy)++;
	model_mask_add(&g->cpus, &row->cpus);
	g->samples += row->samples;
	g->in_runtime += row->in_runtime;
	g->computed_ns += app->compute_ns;
}

static struct threads_group rank_group(struct threads *t, const struct model_process *p)
{
	struct threads_group g = {.ranks = 1, .first = p->idx};
	const struct app_time *app = &t->a->findings.app;

	for (uint32_t i = 0; i < model_thread_count(t->a->model) && i < app->nthread; i++) {
		if (model_thread_get(t->a->model, i)->proc == p)
			thread_add(t, i, &g, &g.busy);
	}
	g.busy_most = g.busy;
	return g;
}

static void group_join(struct threads_group *to, const struct threads_group *from)
{
	model_mask_add(&to->cpus, &from->cpus);
	to->ranks += from->ranks;
	to->busy += from->busy;
	to->busy_most = from->busy_most > to->busy_most ? from->busy_most : to->busy_most;
	to->samples += from->samples;
	to->in_runtime += from->in_runtime;
	to->computed_ns += from->computed_ns;
	to->waited_ns += from->waited_ns;
	to->worked_ns += from->worked_ns;
}

/* Caller frees. */
static struct threads_group *groups_make(struct threads *t, uint32_t *n)
{
	const struct model *m = t->a->model;
	struct threads_group *g = xcalloc(model_process_count(m) + 1, sizeof(*g));

	*n = 0;
	for (uint32_t i = 0; i < model_process_count(m); i++) {
		const struct model_process *p = model_process_get(m, i);
		struct threads_group own;
		uint32_t k = 0;

		if (!p->is_rank)
			continue;
		own = rank_group(t, p);
		while (k < *n) {
			if (model_process_get(m, g[k].first)->host_idx != p->host_idx ||
			    !overlaps(&g[k].cpus, &own.cpus)) {
				k++;
				continue;
			}
			group_join(&own, &g[k]);
			g[k] = g[--*n];
		}
		g[(*n)++] = own;
	}
	for (uint32_t k = 0; k < *n; k++)
		g[k].ncpu = model_mask_cnt(&g[k].cpus);
	return g;
}

/* ---- conclusions ---- */

/* 95 % interval (Wilson 1927) of a share, by k of n samples. */
static void wilson(double k, double n, double *low, double *high)
{
	double z2 = Z_95 * Z_95, mid = (k + z2 / 2) / (n + z2);
	double half = Z_95 / (n + z2) * sqrt(k * (n - k) / n + z2 / 4);

	*low = fmax(0, mid - half);
	*high = fmin(1, mid + half);
}

static struct gain gain_of(const struct threads *t, const struct threads_group *g)
{
	double ran_ns = (double)(g->computed_ns + g->waited_ns + g->worked_ns);
	double rate = ran_ns / (double)t->a->run_ns, low, high;

	wilson((double)g->in_runtime, (double)g->samples, &low, &high);
	return (struct gain){
		.low_ns = (uint64_t)(low * (double)g->computed_ns / rate),
		.high_ns = (uint64_t)((high * (double)g->computed_ns + (double)g->waited_ns) /
				      rate),
	};
}

static char *group_text(const struct threads_group *g)
{
	char *text = words_count(xstrdup(""), g->busy, "thread", "threads");

	text = words_count(words(text, " of "), g->ranks, "rank", "ranks");
	text = words_count(words(text, " computed on "), g->ncpu, "CPU", "CPUs");
	text = words_ns(text, ". They computed ", g->computed_ns, " outside MPI");
	if (g->samples < SAMPLES_LEAST)
		return words(text, "; too few samples (%llu) to tell busy waiting from work",
			     (unsigned long long)g->samples);
	return words(text,
		     "; in %.0f %% of it they were busy waiting in the OpenMP runtime (%llu of "
		     "%llu samples)",
		     100.0 * (double)g->in_runtime / (double)g->samples,
		     (unsigned long long)g->in_runtime, (unsigned long long)g->samples);
}

extern const struct strategy strategy_threads;

static void group_advise(struct threads *t, const struct threads_group *g)
{
	uint32_t each = g->ncpu / g->ranks ? g->ncpu / g->ranks : 1;
	const char *set = library_environment(t->a->library, "OMP_NUM_THREADS");
	char *binding = allotted_cores_each(t->a->model) < each ?
				NULL :
				setting_cores(model_get_trace(t->a->model), each);
	struct advice d = {
		.strategy = &strategy_threads,
		.gain = gain_of(t, g),
		.text = group_text(g),
		.setting = xasprintf("OMP_NUM_THREADS=%u%s%s%s in each rank's environment%s%s",
				     each, set ? " (it was " : "", set ? set : "", set ? ")" : "",
				     binding ? ", with " : "", binding ? binding : ""),
		.warning = xstrdup("fewer threads have more work each"),
	};

	free(binding);
	d.number[d.nnumber++] = (struct advice_number){"threads", g->busy};
	d.number[d.nnumber++] = (struct advice_number){"ranks", g->ranks};
	d.number[d.nnumber++] = (struct advice_number){"cpus", g->ncpu};
	d.number[d.nnumber++] = (struct advice_number){"samples", g->samples};
	d.number[d.nnumber++] = (struct advice_number){"samples_in_runtime", g->in_runtime};
	d.number[d.nnumber++] = (struct advice_number){"computed_ns", g->computed_ns};
	d.number[d.nnumber++] = (struct advice_number){"waited_in_mpi_ns", g->waited_ns};
	advise_add(t->a, &d);
}

static void conclude(void *data, struct advise *a)
{
	struct threads *t = data;
	uint32_t n, over = 0;
	struct threads_group *g = groups_make(t, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (g[i].busy <= g[i].ncpu || g[i].busy_most < 2)
			continue;
		over++;
		if (g[i].samples)
			group_advise(t, &g[i]);
		else
			advise_nothing(
				a, &strategy_threads,
				words_count(
					xstrdup("There were more computing threads than CPUs, but "
						"no samples show where they ran: "),
					g[i].busy, "thread", "threads"));
	}
	if (!model_get_info(a->model)->sched_recorded)
		advise_nothing(
			a, &strategy_threads,
			xstrdup("Which threads computed is unknown: the scheduler was not recorded "
				"(record --sched)"));
	else if (!over)
		advise_nothing(
			a, &strategy_threads,
			xasprintf("No rank had more computing threads than CPUs (counted if they "
				  "computed for 1/%d of the run)",
				  BUSY_PART));
	free(g);
}

const struct strategy strategy_threads = {
	.name = "threads",
	.brief = "threads per rank, against the cores that they may use",
	.source = "Gallardo et al. 2015 (MPI Advisor), 4.4; Wilson 1927",
	.mends = true,
	.cause = REASON_HELD_BY_SELF,
	.begin = begin,
	.release = release,
	.sink = sink,
	.conclude = conclude,
};
