/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What to do, in the settings of the MPI library and the launcher that the trace names. Both are those of the first process that says it: one
 * recording has one of each but for rare cases.
 */
#include <string.h>

#include "base/log.h"
#include "finding/find.h"
#include "trace/trace_read.h"

enum family { FAMILY_OTHER, FAMILY_OPENMPI, FAMILY_HYDRA, FAMILY_SLURM };

static const char *first_text(const struct findings *f, const char *type, const char *key)
{
	const struct trace *t = model_get_trace(f->model);

	for (size_t i = 0; i < trace_meta_count(t); i++) {
		const json_t *meta = trace_meta_get(t, i);
		const char *said = json_string_value(json_object_get(meta, "type"));
		const char *text = json_string_value(json_object_get(meta, key));

		if (said && !strcmp(said, type) && text && *text)
			return text;
	}
	return "";
}

static enum family launcher_of(const struct findings *f)
{
	const char *name = first_text(f, "process", "launcher");

	if (!strcmp(name, "openmpi"))
		return FAMILY_OPENMPI;
	if (!strcmp(name, "hydra"))
		return FAMILY_HYDRA;
	return !strcmp(name, "slurm") ? FAMILY_SLURM : FAMILY_OTHER;
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

char *advice_yield(const struct findings *f, char *text)
{
	if (!strcmp(first_text(f, "library", "flavour"), "openmpi"))
		return words(text, "mpirun --mca mpi_yield_when_idle 1");
	return text;
}

char *advice_against(const struct findings *f, const struct model_thread *holder)
{
	if (holder->proc->is_rank)
		return words(advice_cores(f, xstrdup("give each rank cores of its own ("), 1), ")");
	if (holder->kthread)
		return xstrdup(
			"keep the kernel's work off the ranks' CPUs: isolcpus= and irqaffinity= "
			"on its command line, or a partition of the cgroup's cpuset");
	return xstrdup("keep other processes off the ranks' CPUs: taskset -pc, or a cpuset "
		       "(AllowedCPUs= of systemd's units)");
}
