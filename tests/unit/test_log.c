/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Messages: levels, prefix, very long ones; dying with status 1. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/test.h"
#include "base/log.h"

static char said[8192];

/* Runs say() with stderr going to `said`. Returns its length. */
static size_t capture(void (*say)(void))
{
	int fds[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	assert_true(saved >= 0);
	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	close(fds[1]);
	say();
	dup2(saved, STDERR_FILENO);
	close(saved);
	n = read(fds[0], said, sizeof(said) - 1);
	close(fds[0]);
	assert_true(n >= 0);
	said[n] = '\0';
	return (size_t)n;
}

static void say_all(void)
{
	log_error("e%d", 1);
	log_warn("w");
	log_info("i");
	log_debug("d");
}

TEST(levels)
{
	static const struct {
		enum log_level level;
		const char *text;
	} rows[] = {
		{LOG_QUIET, ""},
		{LOG_ERROR, "povtrace: e1\n"},
		{LOG_WARN, "povtrace: e1\npovtrace: warning: w\n"},
		{LOG_INFO, "povtrace: e1\npovtrace: warning: w\npovtrace: i\n"},
		{LOG_DEBUG,
		 "povtrace: e1\npovtrace: warning: w\npovtrace: i\npovtrace: debug: d\n"},
	};
	enum log_level before = log_get_level();
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		log_set_level(rows[i].level);
		assert_int_equal(log_get_level(), rows[i].level);
		capture(say_all);
		assert_string_equal(said, rows[i].text);
	}
	log_set_level(before);
}

static void say_much(void)
{
	char text[5000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_error("%s", text);
}

TEST(long)
{
	size_t len = capture(say_much);

	assert_true(len > 1000 && len < 5000);
	assert_int_equal(said[len - 1], '\n');
	assert_null(memchr(said, '\n', len - 1));
}

static int child_status(void (*run)(void))
{
	pid_t pid = fork();
	int status = -1;

	assert_true(pid >= 0);
	if (!pid) {
		log_set_level(LOG_QUIET);
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void run_die(void)
{
	die("%s", "over");
}

static void say_dying(void)
{
	if (child_status(run_die) != 1)
		log_error("wrong status");
}

TEST(die)
{
	capture(say_dying);
	assert_string_equal(said, "povtrace: over\n");
}

TEST(alloc)
{
	char *s = xasprintf("%d-%s", 7, "x"), *copy = xstrdup(s);
	char *grown = xrealloc(xcalloc(3, 5), 100);

	assert_string_equal(copy, "7-x");
	assert_memory_equal(grown, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 15);
	free(s);
	free(copy);
	free(grown);
	s = xmalloc(0);
	assert_non_null(s);
	free(s);
}
