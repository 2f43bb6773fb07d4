/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See setting.h. kmod-docs/FINDINGS_OVERLAP.md and ADVISE.md list which settings were tried, and
 * their measured effect.
 */
#include "finding/setting.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "trace/trace_read.h"

#define OPENMPI_PREFIX "OMPI_MCA_" /* of Open MPI's parameters in the environment */

/* True if an object of this type in the trace has this text. */
static bool trace_says(const struct trace *t, const char *type, const char *key, const char *text)
{
	for (size_t i = 0; i < trace_meta_count(t); i++) {
		const json_t *meta = trace_meta_get(t, i);

		if (json_is_type(meta, type) && !strcmp(json_get_text(meta, key), text))
			return true;
	}
	return false;
}

bool setting_has_library(const struct trace *t, const char *flavour)
{
	return trace_says(t, "library", "flavour", flavour);
}

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
 * Uses the ranks' environment, then the command line. Otherwise, ranks yield if Open MPI's launcher
 * reports that it has oversubscribed.
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

	for (uint32_t i = 0; i < n; i++) {
		char *one = pair_text(launcher, &pair[i]), *both = xasprintf("%s%s", text, one);

		free(text);
		free(one);
		text = both;
	}
	if (launcher == LAUNCHER_SLURM || launcher == LAUNCHER_OTHER) {
		char *both = xasprintf(
			"%s%s", text,
			launcher == LAUNCHER_SLURM ? "srun" : "in the environment of the ranks");

		free(text);
		text = both;
	}
	return text;
}
