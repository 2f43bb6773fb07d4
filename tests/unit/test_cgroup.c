/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Limits of a process's CPU time and memory, in both versions of control groups, and the contents
 * of their files: cases/cgroup.txt.
 */
#include <unistd.h>

#include "unit/test.h"
#include "record/host/cgroup_limits.h"
#include "unit/cases.h"
#include "unit/trace_help.h"

#define FIRST                                                                          \
	"31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"          \
	"33 31 0:30 / /sys/fs/cgroup/cpuacct rw shared:9 - cgroup cgroup rw,cpuacct\n" \
	"32 31 0:29 / /sys/fs/cgroup/cpu rw shared:8 master:1 - cgroup cgroup rw,cpuset,cpu\n"
#define SECOND "29 22 0:25 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

static const struct {
	const char *name, *text;
} mounts[] = {
	{"first", FIRST},
	{"second", SECOND},
	{"both", FIRST SECOND},
	{"nothing", ""},
	{"nonsense", "nonsense\n36 25\n - \n"},
	/* in a container: the mounted directory is a group in the middle */
	{"middle", "29 22 0:25 /pod/7 /cg rw - cgroup2 cgroup2 rw\n"},
};

/* Runs dir MOUNTS GROUPS, or memory_dir MOUNTS GROUPS. */
static void dir_print(const char *name, const char *groups, const char *controller, FILE *out)
{
	size_t root = 0, i = 0;
	char *dir;

	while (strcmp(mounts[i].name, name) != 0)
		i++;
	dir = cgroup_dir(mounts[i].text, groups, controller, &root);
	if (dir)
		fprintf(out, "%s from %zu", dir, root);
	else
		fputs("none", out);
	free(dir);
}

static void cpu_print(bool limit, const char *dir, FILE *out)
{
	struct cpu_bandwidth b = {0};
	struct cpu_throttling t = {0};
	int err = limit ? cgroup_limit_read(dir, &b) : cgroup_throttling_read(dir, &t);

	if (err)
		fputs("none", out);
	else if (limit)
		fprintf(out, "%llu of %llu us", (unsigned long long)b.quota_us,
			(unsigned long long)b.period_us);
	else
		fprintf(out, "%llu of %llu, %llu ns", (unsigned long long)t.throttled,
			(unsigned long long)t.periods, (unsigned long long)t.throttled_ns);
}

static void memory_print(const char *dir, FILE *out)
{
	uint64_t kills;

	fprintf(out, "%llu bytes, ", (unsigned long long)cgroup_memory_limit_read(dir));
	if (cgroup_oom_kills_read(dir, &kills))
		fputs("kills unknown", out);
	else
		fprintf(out, "%llu kills", (unsigned long long)kills);
}

/* Runs limit FILE=TEXT…, throttling FILE=TEXT… or memory FILE=TEXT…. */
static void files_print(const char *command, char *files, FILE *out)
{
	static const char *const names[] = {
		"cpu.max",    "cpu.cfs_quota_us",      "cpu.cfs_period_us",  "cpu.stat",
		"memory.max", "memory.limit_in_bytes", "memory.oom_control", "memory.events"};
	char dir[128], *save = NULL;

	for (char *f = strtok_r(files, ",", &save); f; f = strtok_r(NULL, ",", &save)) {
		char *text = strchr(f, '=');

		*text++ = '\0';
		file_store(temp_path(f), text, strlen(text));
	}
	snprintf(dir, sizeof(dir), "%s", temp_path(""));
	if (!strcmp(command, "memory"))
		memory_print(dir, out);
	else
		cpu_print(!strcmp(command, "limit"), dir, out);
	for (size_t i = 0; i < COUNT(names); i++)
		unlink(temp_path(names[i]));
}

/* "|" ends a line. */
static void play(const struct script *lines, FILE *out)
{
	char *line = lines->line[0], *save = NULL, *command, *name;

	for (char *end; (end = strchr(line, '|'));)
		*end = '\n';
	command = strtok_r(line, " ", &save);
	if (strstr(command, "dir")) {
		name = strtok_r(NULL, " ", &save);
		dir_print(name, save, strcmp(command, "dir") ? "memory" : "cpu", out);
	} else {
		files_print(command, save, out);
	}
}

TEST(cgroup)
{
	cases_run("cgroup", play);
}
