/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Messages to stderr. Each goes out in one write, so that the lines of several processes on one
 * terminal (a launcher's and ours) do not mix. The level, the program's name, what erases a line of
 * progress, and lines that must not wait for the terminal are the only state.
 */
#include "lib/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LOG_LINE_BYTES 2048

static enum log_level log_level = LOG_INFO;
static const char *log_program = "povtrace";
static void (*log_before)(void);
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER; /* protects what follows */
static bool log_patient;
static char *log_late; /* lines to be written later */
static size_t log_late_bytes;

void log_set_level(enum log_level level)
{
	log_level = level;
}

enum log_level log_get_level(void)
{
	return log_level;
}

void log_set_program(const char *name)
{
	log_program = name;
}

const char *log_get_program(void)
{
	return log_program;
}

void log_set_before(void (*before)(void))
{
	log_before = before;
}

/* True if a write to stderr would not block; it may still fail. */
static bool stderr_takes(void)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&p, 1, 0) > 0;
}

/* Nothing can be done about a stderr that cannot be written. */
static void stderr_write(const char *text, size_t bytes)
{
	ssize_t n;

	for (; bytes && (n = write(STDERR_FILENO, text, bytes)) > 0; text += n)
		bytes -= (size_t)n;
}

static bool late_write(void)
{
	if (log_patient && !stderr_takes())
		return false;
	stderr_write(log_late, log_late_bytes);
	free(log_late);
	log_late = NULL;
	log_late_bytes = 0;
	return true;
}

static void late_add(const char *line, size_t bytes)
{
	char *longer = realloc(log_late, log_late_bytes + bytes);

	if (!longer)
		return;
	log_late = longer;
	memcpy(log_late + log_late_bytes, line, bytes);
	log_late_bytes += bytes;
}

bool log_ready(void)
{
	bool ready;

	pthread_mutex_lock(&log_lock);
	ready = late_write();
	pthread_mutex_unlock(&log_lock);
	return ready;
}

void log_set_patient(bool patient)
{
	pthread_mutex_lock(&log_lock);
	log_patient = patient;
	late_write();
	pthread_mutex_unlock(&log_lock);
}

static void log_write(enum log_level level, const char *fmt, va_list ap)
{
	static const char *const label[LOG_DEBUG + 1] = {
		[LOG_WARN] = "warning: ", [LOG_DEBUG] = "debug: "};
	char line[LOG_LINE_BYTES];
	int used, n;

	if (level > log_level)
		return;
	used = snprintf(line, sizeof(line), "%s: %s", log_program, label[level] ?: "");
	n = vsnprintf(line + used, sizeof(line) - (size_t)used - 1, fmt, ap);
	if (n < 0)
		return;
	used += n;
	if ((size_t)used > sizeof(line) - 2)
		used = sizeof(line) - 2;
	line[used++] = '\n';
	if (log_before)
		log_before();
	pthread_mutex_lock(&log_lock);
	if (late_write())
		stderr_write(line, (size_t)used);
	else
		late_add(line, (size_t)used);
	pthread_mutex_unlock(&log_lock);
}

void log_print(enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_write(level, fmt, ap);
	va_end(ap);
}

const char *log_unwritten(int err)
{
	return err == EFBIG ? "the limit of a file's size (ulimit -f) is reached" : strerror(err);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_patient = false;
	log_write(LOG_QUIET, fmt, ap);
	va_end(ap);
	exit(1);
}

/*
 * ---- allocation that cannot fail ----
 *
 * A tool without memory has nothing better to do than to print so and end. A trace being written
 * stays readable up to its last complete block.
 */

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
