/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What to do, by what was found; how that is set is said by setting.c.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "finding/find.h"
#include "finding/setting.h"

/* Puts what is to be set behind text, and frees it. */
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

char *advice_apart(const struct findings *f, const struct model_process *a,
		   const struct model_process *b)
{
	char *text;

	if (allotted_apart(&f->allotted, a, b))
		return xstrdup(
			"the program itself has moved these ranks to one CPU: they were given CPUs of their own, "
			"and no binding by the launcher keeps them apart");
	text = advice_cores(f, "each rank", 1);
	return text ? text :
		      xstrdup("there are more ranks than cores: start fewer, or use more hosts");
}

char *advice_yield(const struct findings *f, char *text)
{
	char *setting = setting_yield(model_get_trace(f->model));

	return setting ? setting_add(text, setting) : text;
}

char *advice_against(const struct findings *f, const struct model_thread *waiter,
		     const struct model_thread *holder)
{
	if (holder->proc->is_rank)
		return advice_apart(f, waiter->proc, holder->proc);
	if (model_thread_records(f->model, holder))
		return xstrdup(
			"tracing itself took the cores: leave one CPU to it, without ranks, or record less "
			"(-f, --no-functions, --sched ranks)");
	if (holder->kthread)
		return xstrdup(
			"keep the kernel's work off the ranks' CPUs: isolcpus= and irqaffinity= "
			"on its command line, or a partition of the cgroup's cpuset");
	return xstrdup("keep other processes off the ranks' CPUs: taskset -pc, or a cpuset "
		       "(AllowedCPUs= of systemd's units)");
}

char *advice_target(const struct findings *f)
{
	char *text = xstrdup(
		"the library carried out accesses to this memory only while its owner called MPI: call MPI_Iprobe now and "
		"then within the computation");

	if (setting_has_library(model_get_trace(f->model), "mpich"))
		text = words(
			text,
			"; or, with a free core for each rank's thread, MPIR_CVAR_ASYNC_PROGRESS=1");
	return text;
}

/* kmod-docs/FINDINGS_OVERLAP.md says what each of these was measured to bring. */
char *advice_progress(const struct findings *f)
{
	char *text = xstrdup(
		"MPI moved the data only while it was called: call MPI_Testall now and then within the "
		"computation");

	if (setting_has_library(model_get_trace(f->model), "openmpi"))
		text = words(text,
			     "; where Open MPI uses TCP, mpirun --mca btl_tcp_progress_thread 1");
	if (setting_has_library(model_get_trace(f->model), "mpich"))
		text = words(
			text,
			"; or, with a free core for each rank's thread, MPIR_CVAR_ASYNC_PROGRESS=1");
	return text;
}
