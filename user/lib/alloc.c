/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Allocation that cannot fail. A tool without memory has nothing better to do than to print so and
 * end. A trace being written stays readable up to its last complete block.
 */
#include "lib/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/*
 * Largest allocation for which xcalloc uses malloc: glibc's calloc (before 2.41) does not use the
 * thread's cache of freed memory.
 */
#define SMALL 1024

/*
 * Hint on why there is no memory. trace/trace_limit.h sets a limit of this process for what it
 * reads.
 */
static const char *why(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur == limit.rlim_max)
		return "";
	return ": the file wants more than recordings of its size do; it is damaged or made up. If "
	       "it is neither, set a limit of your own (ulimit -d, in KiB)";
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

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		die("out of memory (formatting a message)");
	return s;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}
