/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See cgroup_limits.h. A limit of CPU time also holds for all cgroups below it. The kernel counts a
 * kill in the victim's own cgroup, even if a cgroup above had used up its memory.
 */
#include "record/host/cgroup_limits.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/file.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "trace/trace_write.h"
#include "record/kernel.h"

/*
 * ---- files of cgroups ----
 *
 * Handles both versions of cgroups. In version 1 a controller has its own hierarchy or shares one;
 * in version 2 all controllers share one.
 */
#define UNLIMITED_BYTES \
	(INT64_MAX -    \
	 (1 << 20)) /* version 1's number for no limit: about a page below the maximum */

/* Returns true if word is in the list "a,b,c" of the given length. */
static bool list_has(const char *list, size_t bytes, const char *word)
{
	size_t len = strlen(word), n;

	for (const char *p = list; p < list + bytes; p += n + 1) {
		n = strcspn(p, ",");
		if (n > (size_t)(list + bytes - p))
			n = (size_t)(list + bytes - p);
		if (n == len && !memcmp(p, word, len))
			return true;
	}
	return false;
}

/*
 * Returns the path after "N:controllers:"; the caller frees it. *first is set to true for a
 * hierarchy of version 1.
 */
static char *path_of(const char *cgroup, const char *controller, bool *first)
{
	const char *controllers, *path, *shared = NULL;

	*first = true;
	for (const char *line = cgroup; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		controllers = strchr(line, ':');
		path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			break;
		if (list_has(controllers + 1, (size_t)(path - controllers - 1), controller))
			return strndup(path + 1, strcspn(path + 1, "\n"));
		if (!strncmp(line, "0::", 3))
			shared = path + 1;
	}
	*first = false;
	return shared ? strndup(shared, strcspn(shared, "\n")) : NULL;
}

/*
 * Finds the mount point of a hierarchy, and the cgroup that is mounted there, in lines like "36 25
 * 0:31 ROOT POINT options … - TYPE source options". The caller frees both.
 */
static bool mount_of(const char *mountinfo, const char *controller, bool first, char **root,
		     char **point)
{
	const char *end, *type, *options;

	for (const char *line = mountinfo; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		type = strstr(line, " - ");
		if (!type || type > end)
			continue;
		type += 3;
		if (strncmp(type, first ? "cgroup " : "cgroup2 ", first ? 7 : 8))
			continue;
		options = end;
		while (options[-1] != ' ')
			options--;
		if (first && !list_has(options, (size_t)(end - options), controller))
			continue;
		if (sscanf(line, "%*s %*s %*s %ms %ms", root, point) == 2)
			return true;
	}
	return false;
}

char *cgroup_dir(const char *mountinfo, const char *cgroup, const char *controller,
		 size_t *root_bytes)
{
	char *root = NULL, *point = NULL, *path, *dir = NULL;
	size_t skip;
	bool first;

	path = path_of(cgroup, controller, &first);
	if (!path || !mount_of(mountinfo, controller, first, &root, &point))
		goto out;
	skip = strcmp(root, "/") ? strlen(root) : 0;
	if (strncmp(path, root, skip) || (skip && path[skip] && path[skip] != '/') ||
	    strstr(path, "/.."))
		goto out; /* outside of the mounted part */
	dir = xasprintf("%s%s", point, strcmp(path + skip, "/") ? path + skip : "");
	*root_bytes = strlen(point);
out:
	free(path);
	free(root);
	free(point);
	return dir;
}

static FILE *file_of(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "re");

	free(path);
	return f;
}

/* Reads up to two numbers and returns how many; 0: the first is not a number. */
static int numbers_read(const char *dir, const char *name, int64_t *a, int64_t *b)
{
	FILE *f = file_of(dir, name);
	int n = 0;

	if (!f)
		return 0;
	n = fscanf(f, "%" SCNd64 " %" SCNd64, a, b);
	fclose(f);
	return n > 0 ? n : 0;
}

int cgroup_limit_read(const char *dir, struct cpu_bandwidth *out)
{
	int64_t quota_us = 0, period_us = 0, none;

	if (numbers_read(dir, "cpu.max", &quota_us, &period_us) != 2 &&
	    (!numbers_read(dir, "cpu.cfs_quota_us", &quota_us, &none) ||
	     !numbers_read(dir, "cpu.cfs_period_us", &period_us, &none)))
		return -ENOENT;
	if (quota_us <= 0 || period_us <= 0)
		return -ENOENT;
	*out = (struct cpu_bandwidth){(uint64_t)quota_us, (uint64_t)period_us};
	return 0;
}

int cgroup_throttling_read(const char *dir, struct cpu_throttling *out)
{
	FILE *f = file_of(dir, "cpu.stat");
	char key[32];
	uint64_t v;

	if (!f)
		return -errno;
	*out = (struct cpu_throttling){0};
	while (fscanf(f, "%31s %" SCNu64, key, &v) == 2) {
		if (!strcmp(key, "nr_periods"))
			out->periods = v;
		else if (!strcmp(key, "nr_throttled"))
			out->throttled = v;
		else if (!strcmp(key, "throttled_usec"))
			out->throttled_ns = v * 1000;
		else if (!strcmp(key, "throttled_time"))
			out->throttled_ns = v;
	}
	fclose(f);
	return 0;
}

uint64_t cgroup_memory_limit_read(const char *dir)
{
	int64_t bytes = 0, none;

	if (!numbers_read(dir, "memory.max", &bytes, &none) &&
	    !numbers_read(dir, "memory.limit_in_bytes", &bytes, &none))
		return 0;
	return bytes > 0 && bytes < UNLIMITED_BYTES ? (uint64_t)bytes : 0;
}

int cgroup_oom_kills_read(const char *dir, uint64_t *kills)
{
	FILE *f = file_of(dir, "memory.events") ?: file_of(dir, "memory.oom_control");
	int err = -ENOENT;
	char key[32];
	uint64_t v;

	if (!f)
		return err;
	while (fscanf(f, "%31s %" SCNu64, key, &v) == 2) {
		if (strcmp(key, "oom_kill"))
			continue;
		*kills = v;
		err = 0;
	}
	fclose(f);
	return err;
}

#define MOUNTS_BYTES (16u << 20) /* container hosts have thousands of mounts */
#define GROUPS_BYTES 65536

struct cgroup_watch {
	char *dir;	  /* owned */
	const char *name; /* the cgroup's name; points into dir */
	json_t *pids;	  /* its ranks; CPU time: also those in cgroups below */
	uint64_t from_ns; /* when it was read first */
	uint64_t to_ns;	  /* when it was read last */
	/* CPU time */
	struct cpu_bandwidth bandwidth;
	struct cpu_throttling first, last;
	/* memory */
	uint64_t bytes; /* the smallest limit of this cgroup and of those above; 0: none */
	uint64_t first_kills, kills;
};

/* Like cgroup_dir(), for a process. */
static char *group_of(struct cgroup_limits *l, pid_t pid, const char *controller,
		      size_t *root_bytes)
{
	size_t bytes;
	char *cgroup = proc_file_read(pid, "cgroup", GROUPS_BYTES, &bytes), *dir = NULL;

	if (!l->mountinfo)
		l->mountinfo = proc_file_read(getpid(), "mountinfo", MOUNTS_BYTES, &bytes);
	if (l->mountinfo && cgroup)
		dir = cgroup_dir(l->mountinfo, cgroup, controller, root_bytes);
	free(cgroup);
	return dir;
}

/* Shortens dir to the cgroup above. False: it was the topmost one. */
static bool group_go_up(char *dir, size_t root_bytes)
{
	if (strlen(dir) <= root_bytes)
		return false;
	*strrchr(dir, '/') = '\0';
	return true;
}

static struct cgroup_watch *watch_find(const struct cgroup_watches *w, const char *dir)
{
	return table_where(w->watch, w->cnt, i, !strcmp(w->watch[i].dir, dir));
}

static struct cgroup_watch *watch_make(struct cgroup_watches *w, const char *dir, size_t root_bytes)
{
	struct cgroup_watch *watch = table_append(w->watch, w->cnt);

	*watch = (struct cgroup_watch){
		.dir = xstrdup(dir),
		.pids = json_array(),
		.from_ns = clock_now_ns(),
	};
	watch->name = watch->dir + root_bytes;
	watch->to_ns = watch->from_ns;
	return watch;
}

static void watches_release(struct cgroup_watches *w)
{
	for (size_t i = 0; i < w->cnt; i++) {
		json_decref(w->watch[i].pids);
		free(w->watch[i].dir);
	}
	free(w->watch);
}

/* ---- CPU time ---- */

/* NULL: the cgroup has no limit. */
static struct cgroup_watch *cpu_watch(struct cgroup_watches *w, const char *dir, size_t root_bytes)
{
	struct cgroup_watch *watch = watch_find(w, dir);
	struct cpu_bandwidth bandwidth;

	if (watch || cgroup_limit_read(dir, &bandwidth))
		return watch;
	watch = watch_make(w, dir, root_bytes);
	watch->bandwidth = bandwidth;
	cgroup_throttling_read(dir, &watch->first);
	watch->last = watch->first;
	return watch;
}

static void cpu_add(struct cgroup_limits *l, pid_t pid)
{
	size_t root_bytes = 0;
	char *dir = group_of(l, pid, "cpu", &root_bytes);
	struct cgroup_watch *watch;

	if (!dir)
		return;
	do {
		watch = cpu_watch(&l->cpu, dir, root_bytes);
		if (watch)
			json_append_int_once(watch->pids, pid);
	} while (group_go_up(dir, root_bytes));
	free(dir);
}

void cgroup_limits_read_cpu(struct cgroup_limits *l, uint64_t now_ns, uint64_t age_ns)
{
	for (size_t i = 0; i < l->cpu.cnt; i++) {
		struct cgroup_watch *watch = &l->cpu.watch[i];
		struct cpu_throttling now;

		if (now_ns - watch->to_ns < age_ns || cgroup_throttling_read(watch->dir, &now))
			continue;
		watch->last = now;
		watch->to_ns = now_ns;
	}
}

/* ---- memory ---- */

static uint64_t smallest_limit(const char *dir, size_t root_bytes)
{
	uint64_t least = 0, bytes;
	char *at = xstrdup(dir);

	do {
		bytes = cgroup_memory_limit_read(at);
		if (bytes && (!least || bytes < least))
			least = bytes;
	} while (group_go_up(at, root_bytes));
	free(at);
	return least;
}

/* NULL: the kernel does not count the cgroup's kills. */
static struct cgroup_watch *memory_watch(struct cgroup_watches *w, const char *dir,
					 size_t root_bytes)
{
	struct cgroup_watch *watch = watch_find(w, dir);
	uint64_t kills;

	if (watch || cgroup_oom_kills_read(dir, &kills))
		return watch;
	watch = watch_make(w, dir, root_bytes);
	watch->bytes = smallest_limit(dir, root_bytes);
	watch->first_kills = watch->kills = kills;
	return watch;
}

static void memory_add(struct cgroup_limits *l, pid_t pid)
{
	size_t root_bytes = 0;
	char *dir = group_of(l, pid, "memory", &root_bytes);
	struct cgroup_watch *watch = dir ? memory_watch(&l->memory, dir, root_bytes) : NULL;

	if (watch)
		json_append_int_once(watch->pids, pid);
	free(dir);
}

void cgroup_limits_read_memory(struct cgroup_limits *l, uint64_t now_ns)
{
	for (size_t i = 0; i < l->memory.cnt; i++)
		if (!cgroup_oom_kills_read(l->memory.watch[i].dir, &l->memory.watch[i].kills))
			l->memory.watch[i].to_ns = now_ns;
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
	struct cgroup_limits own = {0};
	size_t root_bytes = 0;
	char *dir = group_of(&own, getpid(), "memory", &root_bytes);
	uint64_t bytes = host_available(), limit = dir ? smallest_limit(dir, root_bytes) : 0;

	free(dir);
	cgroup_limits_release(&own);
	return limit && limit < bytes ? limit : bytes;
}

/* ---- both ---- */

void cgroup_limits_add(struct cgroup_limits *l, pid_t pid)
{
	cpu_add(l, pid);
	memory_add(l, pid);
}

/* The members that both meta objects have. */
static json_t *watch_meta(const struct cgroup_watch *w, const char *type)
{
	return json_pack("{s:s,s:I,s:I,s:o,s:O}", "type", type, "ts_ns", (json_int_t)w->from_ns,
			 "to_ns", (json_int_t)w->to_ns, "cgroup",
			 json_text(w->name[0] ? w->name : "/"), "pids", w->pids);
}

static void cpu_write(const struct cgroup_watch *c, struct trace_writer *w)
{
	json_t *meta = watch_meta(c, "cpu_limit");

	json_set_int(meta, "quota_us", c->bandwidth.quota_us);
	json_set_int(meta, "period_us", c->bandwidth.period_us);
	json_set_int(meta, "periods", c->last.periods - c->first.periods);
	json_set_int(meta, "throttled", c->last.throttled - c->first.throttled);
	json_set_int(meta, "throttled_ns", c->last.throttled_ns - c->first.throttled_ns);
	trace_writer_meta(w, meta);
}

static void memory_write(const struct cgroup_watch *c, struct trace_writer *w)
{
	json_t *meta;

	if (c->kills <= c->first_kills)
		return;
	meta = watch_meta(c, "memory_limit");
	json_set_int(meta, "limit_bytes", c->bytes);
	json_set_int(meta, "oom_kills", c->kills - c->first_kills);
	trace_writer_meta(w, meta);
}

void cgroup_limits_write(const struct cgroup_limits *l, struct trace_writer *w)
{
	for (size_t i = 0; i < l->cpu.cnt; i++)
		cpu_write(&l->cpu.watch[i], w);
	for (size_t i = 0; i < l->memory.cnt; i++)
		memory_write(&l->memory.watch[i], w);
}

void cgroup_limits_release(struct cgroup_limits *l)
{
	watches_release(&l->cpu);
	watches_release(&l->memory);
	free(l->mountinfo);
}
