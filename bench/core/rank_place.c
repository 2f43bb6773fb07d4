/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Reads /sys and /proc. Entries that do not exist, as on most virtual machines, are left out. */
#include "core/rank_place.h"

#include "core/cpu_set.h"
#include "core/json_put.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CPU_DIR "/sys/devices/system/cpu"

static bool read_line(const char *path, char *line, size_t bytes)
{
	FILE *f = fopen(path, "re");
	bool got = f && fgets(line, (int)bytes, f);

	if (f)
		fclose(f);
	if (!got)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

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
	int cpu, node, first = -1;
	cpu_set_t nodes;

	CPU_ZERO(&nodes);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
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
