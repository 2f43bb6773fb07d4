/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The kernel counts what a process has allocated and refuses more (RLIMIT_DATA). So the limit holds
 * for everything that reads a recording, whatever it stores.
 */
#include "trace/trace_limit.h"

#include <jansson.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"

/* jansson 2.14 on 64 bits, including malloc's overhead; measured and rounded up. */
#define JSON_OBJECT_BYTES 288
#define JSON_ARRAY_BYTES 160
#define JSON_MEMBER_BYTES 192 /* a key: its pair and its share of the table */
#define JSON_VALUE_BYTES 128  /* a number or string and its place in an array */

uint64_t trace_json_bytes(const char *text, size_t len)
{
	static const uint16_t cost[256] = {
		['{'] = JSON_OBJECT_BYTES,
		['['] = JSON_ARRAY_BYTES,
		[':'] = JSON_MEMBER_BYTES,
		[','] = JSON_VALUE_BYTES,
	};
	uint64_t bytes = JSON_VALUE_BYTES;
	bool in_string = false;

	for (size_t i = 0; i < len; i++) {
		if (!in_string) {
			bytes += cost[(unsigned char)text[i]];
			in_string = text[i] == '"';
			continue;
		}
		bytes++;
		if (text[i] == '\\')
			i++;
		else if (text[i] == '"')
			in_string = false;
	}
	return bytes;
}

/* Private writable memory of this process as counted by the kernel, bytes; 0 if unknown. */
static uint64_t data_bytes(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f)
		return 0;
	if (fscanf(f, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * Analyses free tables of up to some MiB and soon make new ones. Given back to the kernel, this
 * memory cost an eighth of a report's time in page faults.
 */
static void freed_memory_keep(void)
{
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

void trace_limit_memory(char *const *path, int cnt)
{
	struct rlimit limit;
	uint64_t bytes = 0, most;
	struct stat st;

#ifdef POV_SANITIZED /* the sanitizer's shadow is memory of this process */
	return;
#endif
	freed_memory_keep();
	if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur != RLIM_INFINITY)
		return;
	for (int i = 0; i < cnt; i++) {
		if (stat(path[i], &st) || !S_ISREG(st.st_mode))
			return;
		bytes += trace_limit(TRACE_MEMORY_BASE, TRACE_MEMORY_RATIO, (uint64_t)st.st_size);
	}
	most = data_bytes() + bytes;
	json_set_alloc_funcs(xmalloc, free);
	limit.rlim_cur = most;
	if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most)
		setrlimit(RLIMIT_DATA, &limit);
}
