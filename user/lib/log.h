/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Messages to the person at the terminal: on stderr, prefixed with the program's name. The first
 * function that detects a failure prints its cause and a hint, and returns -errno; callers pass
 * that up silently.
 */
#ifndef POV_LIB_LOG_H
#define POV_LIB_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_QUIET = 0, LOG_ERROR = 1, LOG_WARN = 2, LOG_INFO = 3, LOG_DEBUG = 4 };

void log_set_level(enum log_level level);
enum log_level log_get_level(void);
/*
 * Name of the program in messages, help and manual pages; "povtrace" unless set. Must be a
 * constant.
 */
void log_set_program(const char *name);
const char *log_get_program(void);
/* Called before each message is written; NULL: nothing. For lib/progress.h. */
void log_set_before(void (*before)(void));

/*
 * While patient, no message waits for a terminal that was stopped (ctrl-S) or a reader that pauses:
 * programs may be waiting for the caller. Such messages are written by a later call. Not patient:
 * writes all of them now.
 */
void log_set_patient(bool patient);
/* Writes messages that have waited. Returns true if stderr takes more at once. */
bool log_ready(void);

void log_print(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define log_error(...) log_print(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_print(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_print(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_print(LOG_DEBUG, __VA_ARGS__)

/* Why a file could not be written: strerror(err), or a text that names the limit to raise. */
const char *log_unwritten(int err);

/* Prints the message and exits with status 1. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Allocation that cannot fail: dies with a message. Caller frees. */
void *xmalloc(size_t bytes);
void *xcalloc(size_t n, size_t bytes);
void *xrealloc(void *p, size_t bytes);
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

#endif
