/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Messages to stderr. Each goes out in one write, so that the lines of several processes on one
 * terminal (a launcher's and ours) do not mix. The level, the program's name and what erases a
 * line of progress are the only state.
 */
#include "lib/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_LINE_BYTES 2048

static enum log_level log_level = LOG_INFO;
static const char *log_program = "povtrace";
static void (*log_before)(void);

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
	/* nothing can be done about a stderr that cannot be written */
	if (write(STDERR_FILENO, line, (size_t)used) < 0)
		return;
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
	log_write(LOG_QUIET, fmt, ap);
	va_end(ap);
	exit(1);
}
