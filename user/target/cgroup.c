/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Handles both versions of cgroups. In version 1 a controller has its own hierarchy or shares one;
 * in version 2 all controllers share one.
 */
#include "target/cgroup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

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
