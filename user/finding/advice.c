/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Chooses the advice for each kind of finding. setting.c phrases how to set it. */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "finding/find.h"
#include "finding/setting.h"

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
		return xstrdup(
			"the program itself has moved these ranks to one CPU: they were given "
			"CPUs of their own, and no binding by the launcher keeps them apart");
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

char *advice_against(const struct findings *f, const struct model_thread *waiter,
		     const struct model_thread *holder)
{
	if (holder->proc->is_rank)
		return advice_apart(f, waiter->proc, holder->proc);
	if (model_thread_records(f->model, holder))
		return xstrdup(
			"tracing itself took the cores: leave one CPU to it, without ranks, or "
			"record less (-f, --no-functions, --sched ranks)");
	if (holder->kthread)
		return xstrdup(
			"keep the kernel's work off the ranks' CPUs: isolcpus= and irqaffinity= "
			"on its command line, or a partition of the cgroup's cpuset");
	return xstrdup("keep other processes off the ranks' CPUs: taskset -pc, or a cpuset "
		       "(AllowedCPUs= of systemd's units)");
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
		f, xstrdup("the library carried out accesses to this memory only while its owner "
			   "called MPI: call MPI_Iprobe now and then within the computation"));
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
