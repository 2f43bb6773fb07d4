/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Factors are recorded, not judged: whoever compares two results finds out here what was different. The clock is
 * measured too, as a time that is not long against reading the clock means little.
 */
#include "core/host.h"

#include "lib/log.h"
#include "core/clock.h"
#include "core/cpu_list.h"
#include "core/json_put.h"
#include "version.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define CLOCK_READS 10000

extern char **environ;

/* The first line of a file; false if there is none. */
static bool read_line(const char *path, char *line, size_t bytes)
{
	FILE *f = fopen(path, "r");
	char *got;

	if (!f)
		return false;
	got = fgets(line, (int)bytes, f);
	fclose(f);
	if (!got)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return line[0] != '\0';
}

static void put_line(json_t *into, const char *key, const char *path)
{
	char line[256];

	if (read_line(path, line, sizeof(line)))
		json_object_set_new(into, key, json_string(line));
}

/* x86 says "model name", others "cpu", "Processor" or, on most ARM, nothing that names it. */
static json_t *cpu_model(void)
{
	static const char *const key[] = {"model name", "cpu\t", "Processor", "uarch", NULL};
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[512], *colon;
	json_t *model = NULL;
	int i;

	while (f && !model && fgets(line, sizeof(line), f)) {
		for (i = 0; key[i] && strncmp(line, key[i], strlen(key[i])); i++)
			;
		colon = strchr(line, ':');
		if (!key[i] || !colon)
			continue;
		line[strcspn(line, "\n")] = '\0';
		model = json_string(colon + 1 + strspn(colon + 1, " \t"));
	}
	if (f)
		fclose(f);
	return model;
}

static json_t *cpu_factors(const struct utsname *u)
{
	json_t *cpu = json_object(), *model = cpu_model();
	struct cpu_list units;

	cpu_list_init(&units, NULL);
	json_object_set_new(cpu, "model", model ? model : json_string(u->machine));
	json_object_set_new(cpu, "cores", json_integer(units.core_cnt));
	json_object_set_new(cpu, "units", json_integer(units.cnt));
	cpu_list_release(&units);
	return cpu;
}

static json_t *clock_factors(void)
{
	json_t *clock = json_object();
	uint64_t began_ns = clock_now_ns(), last_ns = began_ns, now_ns, least_ns = UINT64_MAX;
	int i;

	for (i = 0; i < CLOCK_READS; i++) {
		now_ns = clock_now_ns();
		if (now_ns > last_ns && now_ns - last_ns < least_ns)
			least_ns = now_ns - last_ns;
		last_ns = now_ns;
	}
	json_object_set_new(clock, "name", json_string("CLOCK_MONOTONIC"));
	put_line(clock, "source",
		 "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	json_object_set_new(clock, "read_ns",
			    json_real((double)(last_ns - began_ns) / CLOCK_READS));
	if (least_ns != UINT64_MAX)
		json_object_set_new(clock, "step_ns", json_integer((json_int_t)least_ns));
	return clock;
}

static bool begins_with_one_of(const char *text, const char *const *begins)
{
	for (; *begins; begins++) {
		if (!strncmp(text, *begins, strlen(*begins)))
			return true;
	}
	return false;
}

/* Settings of OpenMP, MPI and its transports that users make in the environment or through the launcher. */
static json_t *environment_factors(void)
{
	static const char *const wanted[] = {"OMP_",  "GOMP_", "KMP_", "OMPI_MCA_", "MPICH_",
					     "MPIR_", "UCX_",  "FI_",  "HYDRA_",    "I_MPI_",
					     "MV2_",  "PSM2_", NULL};
	/* The launcher's own words to its processes; some differ from run to run. */
	static const char *const launchers[] = {
		"OMPI_MCA_orte",    "OMPI_MCA_ess",	     "OMPI_MCA_pmix",
		"OMPI_MCA_shmem",   "OMPI_MCA_initial_wdir", "OMPI_MCA_mpi_oversubscribe",
		"OMPI_MCA_prte",    "PSM2_DEVICES",	     "MPIR_CVAR_CH3_INTERFACE_HOSTNAME",
		"I_MPI_HYDRA_UUID", "MV2_COMM_WORLD_",	     NULL};
	json_t *list = json_object();
	char *name;
	int e;

	for (e = 0; environ && environ[e]; e++) {
		size_t len = strcspn(environ[e], "=");

		if (!environ[e][len] || !begins_with_one_of(environ[e], wanted) ||
		    begins_with_one_of(environ[e], launchers))
			continue;
		name = xasprintf("%.*s", (int)len, environ[e]);
		json_object_set_new(list, name, json_string(environ[e] + len + 1));
		free(name);
	}
	return list;
}

void host_factors(json_t *into)
{
	struct utsname u;
	char kernel[256];

	if (uname(&u))
		memset(&u, 0, sizeof(u));
	snprintf(kernel, sizeof(kernel), "%s %s", u.sysname, u.release);
	json_object_set_new(into, "povbench", json_string(POV_VERSION));
	json_object_set_new(into, "date", json_date_now());
	json_object_set_new(into, "host", json_string(u.nodename));
	json_object_set_new(into, "kernel", json_string(kernel));
	json_object_set_new(into, "cpu", cpu_factors(&u));
	json_object_set_new(into, "clock", clock_factors());
	json_object_set_new(into, "environment", environment_factors());
}

bool host_core_wait_ns(uint64_t *out)
{
	/* CPU time, time on a run queue, time slices. */
	FILE *in = fopen("/proc/self/schedstat", "r");
	bool known = in && fscanf(in, "%*u %" SCNu64, out) == 1;

	if (in)
		fclose(in);
	return known;
}
