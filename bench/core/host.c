/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Records factors without judging them, so that a comparison of two results can show what differed.
 * The clock's cost is measured too: times close to the cost of a reading mean little.
 */
#include "core/host.h"

#include "lib/clock.h"
#include "lib/log.h"
#include "core/cpu_list.h"
#include "core/result_file.h"
#include "lib/text.h"
#include "version.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CLOCK_READS 10000

extern char **environ;

/* Reads the first line of a file; false if there is none. */
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

/*
 * x86 has "model name", others "cpu" or "Processor". Most ARM machines have nothing that names it.
 */
static json_t *cpu_model(void)
{
	static const char *const key[] = {"model name", "cpu\t", "Processor", "uarch", NULL};
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[512], *colon;
	json_t *model = NULL;

	while (f && !model && fgets(line, sizeof(line), f)) {
		colon = strchr(line, ':');
		if (!colon || !text_begins_any(line, key))
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

	for (int i = 0; i < CLOCK_READS; i++) {
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

/* Settings of OpenMP, MPI and its transports, made in the environment or through the launcher. */
static json_t *environment_factors(void)
{
	static const char *const wanted[] = {"OMP_",  "GOMP_", "KMP_", "OMPI_MCA_", "MPICH_",
					     "MPIR_", "UCX_",  "FI_",  "HYDRA_",    "I_MPI_",
					     "MV2_",  "PSM2_", NULL};
	/* The launcher's internal variables for its processes; some differ from run to run. */
	static const char *const launchers[] = {
		"OMPI_MCA_orte",    "OMPI_MCA_ess",	     "OMPI_MCA_pmix",
		"OMPI_MCA_shmem",   "OMPI_MCA_initial_wdir", "OMPI_MCA_mpi_oversubscribe",
		"OMPI_MCA_prte",    "PSM2_DEVICES",	     "MPIR_CVAR_CH3_INTERFACE_HOSTNAME",
		"I_MPI_HYDRA_UUID", "MV2_COMM_WORLD_",	     NULL};
	json_t *list = json_object();
	char *name;

	for (int e = 0; environ && environ[e]; e++) {
		size_t len = strcspn(environ[e], "=");

		if (!environ[e][len] || !text_begins_any(environ[e], wanted) ||
		    text_begins_any(environ[e], launchers))
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
	/* Fields of schedstat: CPU time, time on a run queue, number of time slices. */
	FILE *in = fopen("/proc/self/schedstat", "r");
	bool known = in && fscanf(in, "%*u %" SCNu64, out) == 1;

	if (in)
		fclose(in);
	return known;
}

/* ---- probes ---- */

/*
 * The kernel puts a probe's breakpoint into the process's private copy of the page, and the file
 * still has the original code. Probes are at the beginning of a function or shortly after it.
 */

#define CODE_BYTES 24
#define LINE_BYTES 4352 /* a path and the fields before it */

/*
 * Opens the file that an address is mapped from and returns the offset in it; -1 if there is none.
 */
static int open_mapped(uintptr_t address, off_t *at)
{
	char line[LINE_BYTES], path[LINE_BYTES];
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t begin, end;
	uint64_t offset;
	int fd = -1;

	while (maps && fd < 0 && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNx64 " %*s %*s %4095[^\n]",
			   &begin, &end, &offset, path) != 4 ||
		    address < begin || address >= end)
			continue;
		*at = (off_t)(offset + (address - begin));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			break;
	}
	if (maps)
		fclose(maps);
	return fd;
}

static bool differs_from_file(const void *code)
{
	unsigned char there[CODE_BYTES];
	bool differs;
	off_t at = 0;
	int fd = open_mapped((uintptr_t)code, &at);

	if (fd < 0)
		return false;
	differs = pread(fd, there, sizeof(there), at) == (ssize_t)sizeof(there) &&
		  memcmp(there, code, sizeof(there)) != 0;
	close(fd);
	return differs;
}

bool probed_mpi(void)
{
	static const char *const timed[] = {"MPI_Send", "MPI_Isend", "MPI_Wait", "MPI_Recv"};
	const void *code;

	for (size_t i = 0; i < sizeof(timed) / sizeof(timed[0]); i++) {
		code = dlsym(RTLD_DEFAULT, timed[i]);
		if (code && differs_from_file(code))
			return true;
	}
	return false;
}

/* ---- factors that may differ by rank ---- */

/* From /sys and /proc. Entries that do not exist, as on most virtual machines, are left out. */

#define CPU_DIR "/sys/devices/system/cpu"

/* Writes "on" if the file contains the text `on`, otherwise "off". */
static bool read_switch(const char *path, const char *on, char *out, size_t bytes)
{
	char line[32];

	if (!read_line(path, line, sizeof(line)))
		return false;
	snprintf(out, bytes, "%s", strcmp(line, on) ? "off" : "on");
	return true;
}

/*
 * Intel's driver has a file that means "no turbo"; all other drivers have one that means "boost".
 */
static void read_turbo(struct rank_place *out)
{
	if (!read_switch(CPU_DIR "/intel_pstate/no_turbo", "0", out->turbo, sizeof(out->turbo)))
		read_switch(CPU_DIR "/cpufreq/boost", "1", out->turbo, sizeof(out->turbo));
}

/* The file has the form "always [madvise] never". */
static void read_huge_pages(struct rank_place *out)
{
	char line[64], *chosen;

	if (!read_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof(line)))
		return;
	chosen = strchr(line, '[');
	if (chosen)
		snprintf(out->huge_pages, sizeof(out->huge_pages), "%.*s",
			 (int)strcspn(chosen + 1, "]"), chosen + 1);
}

/* The NUMA node of a CPU; -1 if unknown. */
static int numa_node_of(int cpu)
{
	char path[64];
	struct dirent *e;
	int node = -1;
	DIR *dir;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d", cpu);
	dir = opendir(path);
	while (dir && node < 0 && (e = readdir(dir))) {
		if (sscanf(e->d_name, "node%d", &node) != 1)
			node = -1;
	}
	if (dir)
		closedir(dir);
	return node;
}

static void read_cpus(const cpu_set_t *allowed, struct rank_place *out)
{
	char path[96];
	int node, first = -1;
	cpu_set_t nodes;

	CPU_ZERO(&nodes);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, allowed))
			continue;
		first = first < 0 ? cpu : first;
		node = numa_node_of(cpu);
		if (node >= 0 && node < CPU_SETSIZE)
			CPU_SET((size_t)node, &nodes);
	}
	cpu_set_text(allowed, out->cpus, sizeof(out->cpus));
	cpu_set_text(&nodes, out->numa_nodes, sizeof(out->numa_nodes));
	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/scaling_governor", first);
	if (!read_line(path, out->governor, sizeof(out->governor)))
		out->governor[0] = '\0';
}

void rank_place_get(const cpu_set_t *allowed, struct rank_place *out)
{
	memset(out, 0, sizeof(*out));
	if (gethostname(out->host, sizeof(out->host) - 1))
		snprintf(out->host, sizeof(out->host), "?");
	read_cpus(allowed, out);
	read_turbo(out);
	read_switch(CPU_DIR "/smt/active", "1", out->smt, sizeof(out->smt));
	read_huge_pages(out);
	read_switch("/proc/sys/kernel/numa_balancing", "1", out->numa_balancing,
		    sizeof(out->numa_balancing));
}

static void put_text(json_t *into, const char *key, const char *text)
{
	if (*text)
		json_put(into, key, json_string(text));
}

json_t *rank_place_json(const struct rank_place *p)
{
	json_t *j = json_object();

	put_text(j, "host", p->host);
	put_text(j, "cpus", p->cpus);
	put_text(j, "numa_nodes", p->numa_nodes);
	put_text(j, "governor", p->governor);
	put_text(j, "turbo", p->turbo);
	put_text(j, "smt", p->smt);
	put_text(j, "huge_pages", p->huge_pages);
	put_text(j, "numa_balancing", p->numa_balancing);
	return j;
}
