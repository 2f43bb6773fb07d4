/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Allocation that cannot fail. A tool that is out of memory has nothing better to do than to say so
 * and end; a trace under way stays readable to its last complete block.
 */
#include "lib/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define SMALL \
	1024 /* glibc's calloc (before 2.41) takes nothing of what free has kept for this thread, malloc does */

/* Why there is none. A limit of this process's own is one for what it reads (trace/trace_limit.h). */
static const char *why(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur == limit.rlim_max)
		return "";
	return ": the file wants more than recordings of its size do; it is damaged or made up. If it is "
	       "neither, set a limit of your own (ulimit -d, in KiB)";
}

static void *checked(void *p, size_t bytes)
{
	if (!p)
		die("out of memory (%zu bytes wanted)%s", bytes, why());
	return p;
}

void *xmalloc(size_t bytes)
{
	return checked(malloc(bytes ? bytes : 1), bytes ? bytes : 1);
}

void *xcalloc(size_t n, size_t bytes)
{
	size_t all;
	void *p;

	if (!__builtin_mul_overflow(n, bytes, &all) && all <= SMALL)
		return memset(xmalloc(all), 0, all);
	p = calloc(n ? n : 1, bytes ? bytes : 1);
	if (!p)
		die("out of memory (%zu times %zu bytes wanted)%s", n, bytes, why());
	return p;
}

void *xrealloc(void *p, size_t bytes)
{
	return checked(realloc(p, bytes ? bytes : 1), bytes ? bytes : 1);
}

char *xstrdup(const char *s)
{
	size_t bytes = strlen(s) + 1;

	return memcpy(xmalloc(bytes), s, bytes);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		die("out of memory (formatting a message)");
	return s;
}
