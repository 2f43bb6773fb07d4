/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See cpu_limits.h. A cgroup's limit also holds for all cgroups below it. */
#include "record/host/cpu_limits.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/file.h"
#include "record/kernel.h"
#include "record/meta.h"

#define MOUNTS_BYTES (16u << 20) /* container hosts have thousands of mounts */
#define GROUPS_BYTES 65536

static struct cpu_limit *limit_of(struct cpu_limits *l, const char *dir, size_t root_bytes)
{
	struct cpu_bandwidth bandwidth;
	struct cpu_limit *limit;

	for (size_t i = 0; i < l->cnt; i++)
		if (!strcmp(l->limit[i].dir, dir))
			return &l->limit[i];
	if (cgroup_limit_read(dir, &bandwidth))
		return NULL;
	l->limit = xrealloc(l->limit, (l->cnt + 1) * sizeof(*l->limit));
	limit = &l->limit[l->cnt++];
	*limit = (struct cpu_limit){.dir = xstrdup(dir), .bandwidth = bandwidth};
	limit->name = limit->dir + root_bytes;
	limit->pids = json_array();
	limit->from_ns = limit->to_ns = kernel_now_ns();
	cgroup_throttling_read(dir, &limit->first);
	limit->last = limit->first;
	return limit;
}

void cpu_limits_add(struct cpu_limits *l, pid_t pid)
{
	size_t bytes, root_bytes = 0;
	char *cgroup = proc_file_read(pid, "cgroup", GROUPS_BYTES, &bytes), *dir = NULL;
	struct cpu_limit *limit;

	if (!l->mountinfo)
		l->mountinfo = proc_file_read(getpid(), "mountinfo", MOUNTS_BYTES, &bytes);
	if (l->mountinfo && cgroup)
		dir = cgroup_dir(l->mountinfo, cgroup, "cpu", &root_bytes);
	while (dir) {
		limit = limit_of(l, dir, root_bytes);
		if (limit)
			json_append_int_once(limit->pids, pid);
		if (strlen(dir) <= root_bytes)
			break;
		*strrchr(dir, '/') = '\0';
	}
	free(dir);
	free(cgroup);
}

void cpu_limits_read(struct cpu_limits *l, uint64_t now_ns, uint64_t age_ns)
{
	for (size_t i = 0; i < l->cnt; i++) {
		struct cpu_limit *limit = &l->limit[i];
		struct cpu_throttling now;

		if (now_ns - limit->to_ns < age_ns || cgroup_throttling_read(limit->dir, &now))
			continue;
		limit->last = now;
		limit->to_ns = now_ns;
	}
}

void cpu_limits_write(const struct cpu_limits *l, struct trace_writer *w)
{
	for (size_t i = 0; i < l->cnt; i++) {
		const struct cpu_limit *t = &l->limit[i];

		meta_write(w,
			   json_pack("{s:s,s:I,s:I,s:o,s:O,s:I,s:I,s:I,s:I,s:I}", "type",
				     "cpu_limit", "ts_ns", (json_int_t)t->from_ns, "to_ns",
				     (json_int_t)t->to_ns, "cgroup",
				     json_text(t->name[0] ? t->name : "/"), "pids", t->pids,
				     "quota_us", (json_int_t)t->bandwidth.quota_us, "period_us",
				     (json_int_t)t->bandwidth.period_us, "periods",
				     (json_int_t)(t->last.periods - t->first.periods), "throttled",
				     (json_int_t)(t->last.throttled - t->first.throttled),
				     "throttled_ns",
				     (json_int_t)(t->last.throttled_ns - t->first.throttled_ns)));
	}
}

void cpu_limits_release(struct cpu_limits *l)
{
	for (size_t i = 0; i < l->cnt; i++) {
		json_decref(l->limit[i].pids);
		free(l->limit[i].dir);
	}
	free(l->limit);
	free(l->mountinfo);
}
