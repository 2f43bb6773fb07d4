/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See memory_limits.h. The kernel counts a kill in the victim's own cgroup, even if a cgroup above
 * had used up its memory.
 */
#include "record/host/memory_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/cgroup.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/file.h"
#include "record/kernel.h"
#include "record/meta.h"

#define MOUNTS_BYTES (16u << 20) /* container hosts have thousands of mounts */
#define GROUPS_BYTES 65536

static uint64_t smallest_limit(const char *dir, size_t root_bytes)
{
	uint64_t least = 0, bytes;
	char *at = xstrdup(dir);

	for (;;) {
		bytes = cgroup_memory_limit_read(at);
		if (bytes && (!least || bytes < least))
			least = bytes;
		if (strlen(at) <= root_bytes)
			break;
		*strrchr(at, '/') = '\0';
	}
	free(at);
	return least;
}

/* Finds or makes the entry of a cgroup. NULL: the kernel does not count its kills. */
static struct memory_limit *limit_of(struct memory_limits *l, const char *dir, size_t root_bytes)
{
	struct memory_limit *limit;
	uint64_t kills;

	for (size_t i = 0; i < l->cnt; i++)
		if (!strcmp(l->limit[i].dir, dir))
			return &l->limit[i];
	if (cgroup_oom_kills_read(dir, &kills))
		return NULL;
	l->limit = xrealloc(l->limit, (l->cnt + 1) * sizeof(*l->limit));
	limit = &l->limit[l->cnt++];
	*limit = (struct memory_limit){
		.dir = xstrdup(dir),
		.bytes = smallest_limit(dir, root_bytes),
		.pids = json_array(),
		.first_kills = kills,
		.kills = kills,
		.from_ns = kernel_now_ns(),
	};
	limit->name = limit->dir + root_bytes;
	limit->to_ns = limit->from_ns;
	return limit;
}

/* Like cgroup_dir(), for a process. */
static char *group_of(struct memory_limits *l, pid_t pid, size_t *root_bytes)
{
	size_t bytes;
	char *cgroup = proc_file_read(pid, "cgroup", GROUPS_BYTES, &bytes), *dir = NULL;

	if (!l->mountinfo)
		l->mountinfo = proc_file_read(getpid(), "mountinfo", MOUNTS_BYTES, &bytes);
	if (l->mountinfo && cgroup)
		dir = cgroup_dir(l->mountinfo, cgroup, "memory", root_bytes);
	free(cgroup);
	return dir;
}

void memory_limits_add(struct memory_limits *l, pid_t pid)
{
	size_t root_bytes = 0;
	char *dir = group_of(l, pid, &root_bytes);
	struct memory_limit *limit = dir ? limit_of(l, dir, root_bytes) : NULL;

	if (limit)
		json_append_int_once(limit->pids, pid);
	free(dir);
}

static uint64_t host_available(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib << 10;
}

uint64_t memory_available(void)
{
	struct memory_limits own = {0};
	size_t root_bytes = 0;
	char *dir = group_of(&own, getpid(), &root_bytes);
	uint64_t bytes = host_available(), limit = dir ? smallest_limit(dir, root_bytes) : 0;

	free(dir);
	memory_limits_release(&own);
	return limit && limit < bytes ? limit : bytes;
}

void memory_limits_read(struct memory_limits *l, uint64_t now_ns)
{
	for (size_t i = 0; i < l->cnt; i++)
		if (!cgroup_oom_kills_read(l->limit[i].dir, &l->limit[i].kills))
			l->limit[i].to_ns = now_ns;
}

void memory_limits_write(const struct memory_limits *l, struct trace_writer *w)
{
	for (size_t i = 0; i < l->cnt; i++) {
		const struct memory_limit *t = &l->limit[i];

		if (t->kills <= t->first_kills)
			continue;
		meta_write(w,
			   json_pack("{s:s,s:I,s:I,s:o,s:O,s:I,s:I}", "type", "memory_limit",
				     "ts_ns", (json_int_t)t->from_ns, "to_ns", (json_int_t)t->to_ns,
				     "cgroup", json_text(t->name[0] ? t->name : "/"), "pids",
				     t->pids, "limit_bytes", (json_int_t)t->bytes, "oom_kills",
				     (json_int_t)(t->kills - t->first_kills)));
	}
}

void memory_limits_release(struct memory_limits *l)
{
	for (size_t i = 0; i < l->cnt; i++) {
		json_decref(l->limit[i].pids);
		free(l->limit[i].dir);
	}
	free(l->limit);
	free(l->mountinfo);
}
