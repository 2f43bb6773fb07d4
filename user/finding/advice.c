/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What to do, in the settings of the MPI libraries and the launcher that the trace names: one recording has one of each but for rare
 * cases.
 */
#include <string.h>

#include "base/json_get.h"
#include "base/log.h"
#include "finding/find.h"
#include "trace/trace_read.h"

enum family { FAMILY_OTHER, FAMILY_OPENMPI, FAMILY_HYDRA, FAMILY_SLURM };

/* Whether an object of the trace does. */
static bool says(const struct findings *f, const char *type, const char *key, const char *text)
{
	const struct trace *t = model_get_trace(f->model);

	for (size_t i = 0; i < trace_meta_count(t); i++) {
		const json_t *meta = trace_meta_get(t, i);

		if (json_is_type(meta, type) && !strcmp(json_get_text(meta, key), text))
			return true;
	}
	return false;
}

static bool has_library(const struct findings *f, const char *flavour)
{
	return says(f, "library", "flavour", flavour);
}

static enum family launcher_of(const struct findings *f)
{
	if (says(f, "process", "launcher", "openmpi"))
		return FAMILY_OPENMPI;
	if (says(f, "process", "launcher", "hydra"))
		return FAMILY_HYDRA;
	return says(f, "process", "launcher", "slurm") ? FAMILY_SLURM : FAMILY_OTHER;
}

char *advice_cores(const struct findings *f, char *text, uint32_t n)
{
	switch (launcher_of(f)) {
	case FAMILY_OPENMPI:
		return words(text, "mpirun --map-by slot:PE=%u --bind-to core", n);
	case FAMILY_HYDRA:
		return words(text, "mpiexec -bind-to core:%u", n);
	case FAMILY_SLURM:
		return words(text, "srun --cpus-per-task=%u --cpu-bind=cores", n);
	default:
		return words(text, "the launcher's binding to cores, or taskset -c");
	}
}

/* By its command line. */
static bool yields(const struct findings *f)
{
	const struct trace *t = model_get_trace(f->model);

	for (size_t i = 0; i < trace_meta_count(t); i++) {
		const json_t *meta = trace_meta_get(t, i), *word;
		bool named = false;
		size_t at;

		if (!json_is_type(meta, "recording"))
			continue;
		json_array_foreach(json_object_get(meta, "argv"), at, word)
		{
			const char *text = json_string_value(word);

			if (named && text && !strcmp(text, "1"))
				return true;
			named = text && !strcmp(text, "mpi_yield_when_idle");
		}
	}
	return false;
}

char *advice_yield(const struct findings *f, char *text)
{
	if (has_library(f, "openmpi") && !yields(f))
		return words(text, "mpirun --mca mpi_yield_when_idle 1");
	return text;
}

char *advice_against(const struct findings *f, const struct model_thread *holder)
{
	if (holder->proc->is_rank)
		return words(advice_cores(f, xstrdup("give each rank cores of its own ("), 1), ")");
	if (!strncmp(holder->comm, "povtrace", strlen("povtrace")))
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

/* kmod-docs/FINDINGS.md says what each of these was measured to bring. */
char *advice_progress(const struct findings *f)
{
	char *text = xstrdup(
		"MPI moved the data only while it was called: call MPI_Testall now and then within the "
		"computation");

	if (has_library(f, "openmpi"))
		text = words(text,
			     "; where Open MPI uses TCP, mpirun --mca btl_tcp_progress_thread 1");
	if (has_library(f, "mpich"))
		text = words(
			text,
			"; or, with a free core for each rank's thread, MPIR_CVAR_ASYNC_PROGRESS=1");
	return text;
}
