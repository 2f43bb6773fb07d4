/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Advice for each kind of finding, phrased for the recorded MPI library and launcher.
 * kmod-docs/FINDINGS_OVERLAP.md and ADVISE.md list which settings were tried, and their measured
 * effect.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/advice.h"
#include "analysis/find.h"
#include "analysis/label.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "trace/trace_read.h"

/* A thread that computes for at least 1/BUSY_PART of its rank's life wants a core of its own. */
#define BUSY_PART 4

/* Appends setting to text and frees it. */
static char *setting_add(char *text, char *setting)
{
	text = words(text, "%s", setting);
	free(setting);
	return text;
}

char *advice_cores(const struct findings *f, const char *whom, uint32_t n)
{
	char *text;

	if (allotted_cores_each(f->model) < n)
		return NULL;
	text = xasprintf("give %s %u core%s of its own (", whom, n, n == 1 ? "" : "s");
	return words(setting_add(text, setting_cores(model_get_trace(f->model), n)), ")");
}

/* Largest number of busy threads (see BUSY_PART) in any rank; at least 1. */
static uint32_t threads_busy(const struct findings *f)
{
	uint32_t *busy = xcalloc(model_process_count(f->model) + 1, sizeof(*busy)), most = 1;

	for (uint32_t i = 0; i < f->app.nthread && i < model_thread_count(f->model); i++) {
		const struct model_process *p = model_thread_get(f->model, i)->proc;

		if (!p->is_rank ||
		    f->app.thread[i].compute_ns * BUSY_PART < p->end_ns - p->start_ns)
			continue;
		busy[p->idx]++;
		most = busy[p->idx] > most ? busy[p->idx] : most;
	}
	free(busy);
	return most;
}

char *advice_apart(const struct findings *f, const struct model_process *a,
		   const struct model_process *b)
{
	uint32_t most = allotted_cores_each(f->model), n = threads_busy(f);

	if (allotted_apart(&f->allotted, a, b))
		return xstrdup("remove the program's own binding of these ranks to one CPU "
			       "(sched_setaffinity): the launcher gave each its own CPUs");
	return most ? advice_cores(f, "each rank", n < most ? n : most) :
		      xstrdup("there are more ranks than cores: start fewer, or use more hosts");
}

char *advice_threads(const struct findings *f)
{
	char *text = advice_cores(f, "the rank", 2);

	if (!text)
		return xstrdup(
			"start fewer threads (OMP_NUM_THREADS): there are not two cores for each "
			"rank");
	return words(text, ", that is for two busy threads, or start fewer (OMP_NUM_THREADS)");
}

char *advice_yield(const struct findings *f, char *text, const char *before)
{
	char *setting = setting_yield(model_get_trace(f->model));

	return setting ? setting_add(words(text, "%s", before), setting) : text;
}

/* Advises on which CPUs to run processes that took the ranks' cores. */
static char *advice_cpus_text(const struct findings *f, uint32_t host_idx)
{
	struct model_mask *cpus = xcalloc(1, sizeof(*cpus));
	uint32_t n = advice_cpus(f, host_idx, UINT32_MAX, cpus);
	char *label = cpus_label(f->model, host_idx, cpus, 3), *text;

	if (!n)
		text = advice_elsewhere();
	else if (n == model_host_get(f->model, host_idx)->nr_cpus)
		text = xstrdup("run other work at another time, or keep it off the ranks' CPUs "
			       "(taskset -acp, or AllowedCPUs= of its systemd unit)");
	else
		text = xasprintf("run other work at another time, or on CPU %s only (taskset -acp "
				 "%s, or AllowedCPUs= of its systemd unit)",
				 label, label);
	free(label);
	free(cpus);
	return text;
}

char *advice_against(const struct findings *f, const struct model_thread *waiter,
		     const struct model_thread *holder)
{
	if (holder->proc->is_rank)
		return advice_apart(f, waiter->proc, holder->proc);
	if (model_thread_records(f->model, holder))
		return xstrdup(
			"tracing itself took the cores: keep one CPU free of ranks, or record "
			"less (-f, --no-functions, --sched ranks)");
	if (holder->kthread)
		return xstrdup(
			"move the kernel's work off the ranks' CPUs: boot with isolcpus= and "
			"irqaffinity=, or make an isolated cpuset (cpuset.cpus.partition)");
	return advice_cpus_text(f, waiter->proc->host_idx);
}

char *advice_elsewhere(void)
{
	return xstrdup("every CPU has a busy rank: run other work elsewhere or at another time, or "
		       "start fewer ranks");
}

/* True if a meta object of this type has this text under `key`. */
static bool trace_says(const struct trace *t, const char *type, const char *key, const char *text)
{
	for (size_t i = 0; i < trace_meta_count(t); i++) {
		const json_t *meta = trace_meta_get(t, i);

		if (json_is_type(meta, type) && !strcmp(json_get_text(meta, key), text))
			return true;
	}
	return false;
}

/* True if the trace has an MPI library of that flavour: "openmpi", "mpich". */
static bool setting_has_library(const struct trace *t, const char *flavour)
{
	return trace_says(t, "library", "flavour", flavour);
}

/* Appends how to enable the library's progress thread, if it has one. */
static char *progress_add(const struct findings *f, char *text)
{
	if (!setting_has_library(model_get_trace(f->model), "mpich"))
		return text;
	return words(text,
		     "; or, with a free core for each rank's thread, MPIR_CVAR_ASYNC_PROGRESS=1");
}

char *advice_target(const struct findings *f)
{
	return progress_add(
		f, xstrdup("call MPI_Iprobe now and then within the computation: the library "
			   "carries out accesses to a window only while its owner is in MPI"));
}

/* kmod-docs/FINDINGS_OVERLAP.md has the measured effect of each of these. */
char *advice_progress(const struct findings *f)
{
	char *text = xstrdup(
		"MPI moved the data only while it was called: call MPI_Testall now and then "
		"within the computation");

	if (setting_has_library(model_get_trace(f->model), "openmpi"))
		text = words(text,
			     "; where Open MPI uses TCP, mpirun --mca btl_tcp_progress_thread 1");
	return progress_add(f, text);
}

/* ---- settings ---- */

#define OPENMPI_PREFIX "OMPI_MCA_" /* prefix of Open MPI's parameters in the environment */

enum setting_launcher { LAUNCHER_OTHER, LAUNCHER_OPENMPI, LAUNCHER_HYDRA, LAUNCHER_SLURM };

static enum setting_launcher setting_launcher_of(const struct trace *t)
{
	if (trace_says(t, "process", "launcher", "openmpi"))
		return LAUNCHER_OPENMPI;
	if (trace_says(t, "process", "launcher", "hydra"))
		return LAUNCHER_HYDRA;
	return trace_says(t, "process", "launcher", "slurm") ? LAUNCHER_SLURM : LAUNCHER_OTHER;
}

const json_t *setting_environment(const struct trace *t)
{
	for (size_t i = 0; i < trace_meta_count(t); i++) {
		const json_t *meta = trace_meta_get(t, i);
		const json_t *settings = json_object_get(meta, "settings");

		if (json_is_type(meta, "process") && json_is_object(settings))
			return settings;
	}
	return NULL;
}

/* One environment variable; NULL: not set, or not recorded. */
static const char *setting_get(const struct trace *t, const char *name)
{
	return json_string_value(json_object_get(setting_environment(t), name));
}

char *setting_cores(const struct trace *t, uint32_t n)
{
	switch (setting_launcher_of(t)) {
	case LAUNCHER_OPENMPI:
		return xasprintf("mpirun --map-by slot:PE=%u --bind-to core", n);
	case LAUNCHER_HYDRA:
		return xasprintf("mpiexec -bind-to core:%u", n);
	case LAUNCHER_SLURM:
		return xasprintf("srun --cpus-per-task=%u --cpu-bind=cores", n);
	default:
		return xstrdup("the launcher's binding to cores, or taskset -c");
	}
}

char *setting_output(const struct trace *t)
{
	switch (setting_launcher_of(t)) {
	case LAUNCHER_OPENMPI:
		return xstrdup(" (mpirun sh -c 'exec APP >FILE.$OMPI_COMM_WORLD_RANK')");
	case LAUNCHER_HYDRA:
		return xstrdup(" (mpiexec sh -c 'exec APP >FILE.$PMI_RANK')");
	case LAUNCHER_SLURM:
		return xstrdup(" (srun sh -c 'exec APP >FILE.$SLURM_PROCID')");
	default:
		return xstrdup("");
	}
}

/* The argument of an option in the recording's command line; NULL: none. */
static const char *command_line_argument(const struct trace *t, const char *name)
{
	for (size_t i = 0; i < trace_meta_count(t); i++) {
		const json_t *meta = trace_meta_get(t, i), *word;
		bool named = false;
		size_t at;

		if (!json_is_type(meta, "recording"))
			continue;
		json_array_foreach(json_object_get(meta, "argv"), at, word)
		{
			const char *text = json_string_value(word);

			if (named && text)
				return text;
			named = text && !strcmp(text, name);
		}
	}
	return NULL;
}

static bool value_is_on(const char *value)
{
	return !strcmp(value, "1") || !strcmp(value, "true");
}

/*
 * True if waiting ranks already yield their cores. The ranks' environment decides, then the command
 * line. Without either, ranks yield if Open MPI's launcher started more ranks than cores.
 */
static bool ranks_yield(const struct trace *t)
{
	const char *set = setting_get(t, OPENMPI_PREFIX "mpi_yield_when_idle");

	if (!set)
		set = command_line_argument(t, "mpi_yield_when_idle");
	if (!set)
		set = setting_get(t, OPENMPI_PREFIX "mpi_oversubscribe");
	return set && value_is_on(set);
}

char *setting_yield(const struct trace *t)
{
	if (!setting_has_library(t, "openmpi") || ranks_yield(t))
		return NULL;
	return setting_pairs(t, &(struct setting_pair){OPENMPI_PREFIX "mpi_yield_when_idle", 1}, 1);
}

static char *pair_text(enum setting_launcher launcher, const struct setting_pair *p)
{
	size_t prefix = strlen(OPENMPI_PREFIX);

	switch (launcher) {
	case LAUNCHER_OPENMPI:
		if (!strncmp(p->name, OPENMPI_PREFIX, prefix))
			return xasprintf(" --mca %s %" PRIu64, p->name + prefix, p->value);
		return xasprintf(" -x %s=%" PRIu64, p->name, p->value);
	case LAUNCHER_HYDRA:
		return xasprintf(" -genv %s %" PRIu64, p->name, p->value);
	default:
		return xasprintf("%s=%" PRIu64 " ", p->name, p->value);
	}
}

char *setting_pairs(const struct trace *t, const struct setting_pair *pair, uint32_t n)
{
	static const char *const begin[] = {
		[LAUNCHER_OPENMPI] = "mpirun",
		[LAUNCHER_HYDRA] = "mpiexec",
		[LAUNCHER_SLURM] = "",
		[LAUNCHER_OTHER] = "",
	};
	enum setting_launcher launcher = setting_launcher_of(t);
	char *text = xstrdup(begin[launcher]);

	for (uint32_t i = 0; i < n; i++)
		text = setting_add(text, pair_text(launcher, &pair[i]));
	if (launcher == LAUNCHER_SLURM || launcher == LAUNCHER_OTHER)
		text = words(text, "%s",
			     launcher == LAUNCHER_SLURM ? "srun" :
							  "in the environment of the ranks");
	return text;
}

static const struct model_mask none;

static void on_affinity(void *ctx, const struct model_affinity *f)
{
	const struct model_process *p = f->thread->proc;
	struct allotted *g = ctx;
	struct model_mask *mask;

	if (!p->is_rank || f->thread->tid != p->pid)
		return;
	mask = table_row(g->process, g->nprocess, p->idx);
	if (!memcmp(mask, &none, sizeof(none)) || !windows_has(g->windows, p, f->ts_ns))
		*mask = f->cpus;
}

void allotted_init(struct allotted *g, const struct windows *windows)
{
	*g = (struct allotted){.sink = {.ctx = g, .affinity = on_affinity}, .windows = windows};
}

void allotted_release(struct allotted *g)
{
	free(g->process);
}

static const struct model_mask *mask_of(const struct allotted *g, const struct model_process *p)
{
	return p->idx < g->nprocess ? &g->process[p->idx] : &none;
}

bool allotted_apart(const struct allotted *g, const struct model_process *p,
		    const struct model_process *q)
{
	const struct model_mask *a = mask_of(g, p), *b = mask_of(g, q);
	uint64_t any_a = 0, any_b = 0, both = 0;

	for (int i = 0; i < MODEL_MASK_WORDS; i++) {
		any_a |= a->word[i];
		any_b |= b->word[i];
		both |= a->word[i] & b->word[i];
	}
	return p != q && p->host_idx == q->host_idx && any_a && any_b && !both;
}

static bool same_core(const json_t *a, const json_t *b)
{
	return json_integer_value(json_object_get(a, "core")) >= 0 &&
	       json_equal(json_object_get(a, "core"), json_object_get(b, "core")) &&
	       json_equal(json_object_get(a, "package"), json_object_get(b, "package"));
}

/*
 * Number of cores of a host. Returns its number of CPUs if the topology is unknown, and always if
 * there are several hosts.
 */
static uint32_t cores_of(const struct model *m, uint32_t host_idx)
{
	const json_t *host = trace_meta_find(model_get_trace(m), "host");
	const json_t *list = json_object_get(host, "topology");
	uint32_t cores = 0;

	if (model_get_info(m)->nhosts > 1 || !json_array_size(list))
		return model_host_get(m, host_idx)->nr_cpus;
	for (size_t i = 0; i < json_array_size(list); i++) {
		size_t k = 0;

		while (k < i && !same_core(json_array_get(list, k), json_array_get(list, i)))
			k++;
		cores += k == i;
	}
	return cores;
}

/*
 * Processes are sorted by job, host and rank. Jobs are not added up, because one may have run after
 * the other.
 */
uint32_t allotted_cores_each(const struct model *m)
{
	uint32_t n = model_process_count(m), least = UINT32_MAX, end, each;

	for (uint32_t i = 0; i < n && model_process_get(m, i)->is_rank; i = end) {
		const struct model_process *first = model_process_get(m, i);

		for (end = i + 1; end < n; end++) {
			const struct model_process *p = model_process_get(m, end);

			if (!p->is_rank || p->job_idx != first->job_idx ||
			    p->host_idx != first->host_idx)
				break;
		}
		each = cores_of(m, first->host_idx) / (end - i);
		least = each < least ? each : least;
	}
	return least;
}

/* ---- CPUs for other work ---- */

static const struct app_process *main_of(const struct findings *f, const struct model_process *p)
{
	const struct app_process *row = p->idx < f->app.nprocess ? &f->app.process[p->idx] : NULL;

	return row && row->has_main ? row : NULL;
}

/* The CPUs that a rank may use at the end, or else those that it was given. */
static const struct model_mask *rank_cpus(const struct findings *f, const struct model_process *p)
{
	const struct app_process *row = main_of(f, p);
	const struct demand_mask *last =
		row ? demand_mask_of(&f->demand, model_thread_get(f->model, row->main)) : NULL;

	return last ? &last->cpus : mask_of(&f->allotted, p);
}

/* True if the rank wants a core for at least half of its time between MPI_Init and MPI_Finalize. */
static bool is_busy(const struct findings *f, const struct model_process *p)
{
	const struct app_process *row = main_of(f, p);
	const struct app_thread *t = row ? &f->app.thread[row->main] : NULL;

	return t && t->compute_ns + t->work_ns + t->no_core_ns >= t->window_ns / 2;
}

/*
 * Adds to `out` the CPUs of a host that are in `in` (wanted) or are not in it (not wanted), except
 * CPU `but`. Returns the number of CPUs in `out`.
 */
static uint32_t cpus_take(const struct model_host *h, const struct model_mask *in, bool wanted,
			  uint32_t but, struct model_mask *out)
{
	for (uint32_t cpu = 0; cpu < h->nr_cpus && cpu / 64 < MODEL_MASK_WORDS; cpu++)
		if (h->cpu_base + cpu != but && (in->word[cpu / 64] >> cpu % 64 & 1) == wanted)
			out->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
	return model_mask_cnt(out);
}

uint32_t advice_cpus(const struct findings *f, uint32_t host_idx, uint32_t but,
		     struct model_mask *out)
{
	const struct model_host *h = model_host_get(f->model, host_idx);
	struct model_mask *bound = xcalloc(2, sizeof(*bound)), *idle = bound + 1;
	uint32_t ranks = 0, unbound = 0, n = 0;

	for (uint32_t i = 0; i < model_process_count(f->model); i++) {
		const struct model_process *p = model_process_get(f->model, i);
		const struct model_mask *own = rank_cpus(f, p);
		bool is_bound = model_mask_cnt(own) && model_mask_cnt(own) < h->nr_cpus;

		if (!p->is_rank || p->host_idx != host_idx)
			continue;
		ranks++;
		unbound += !is_bound;
		if (is_bound)
			model_mask_add(bound, own);
		if (!is_busy(f, p) && is_bound)
			model_mask_add(idle, own);
		else if (!is_busy(f, p))
			memset(idle, 0xff, sizeof(*idle));
	}
	if (!unbound || ranks < h->nr_cpus)
		n = cpus_take(h, bound, false, but, out);
	if (!n)
		n = cpus_take(h, idle, true, but, out);
	free(bound);
	return n;
}
