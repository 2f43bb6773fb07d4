/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Messages: levels, prefix, very long messages, a paused reader; die() with status 1. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/test.h"

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
	static const char *const lines[] = {"povtrace: e1\n", "povtrace: warning: w\n",
					    "povtrace: i\n", "povtrace: debug: d\n"};
	enum log_level before = log_get_level();
	char wanted[128] = "";

	for (int level = LOG_QUIET; level <= LOG_DEBUG; level++) {
		if (level > LOG_QUIET)
			strcat(wanted, lines[level - LOG_QUIET - 1]);
		log_set_level(level);
		assert_int_equal(log_get_level(), level);
		capture(say_all);
		assert_string_equal(said, wanted);
	}
	log_set_level(before);
}

/* A reader of stderr that pauses must not stop this process, since others may wait for it. */
TEST(patient)
{
	int fds[2], saved = dup(STDERR_FILENO), bytes;
	static char much[1 << 16];
	ssize_t n;

	log_set_level(LOG_ERROR);
	assert_int_equal(pipe(fds), 0);
	bytes = fcntl(fds[1], F_SETPIPE_SZ, 8192);
	assert_true(bytes > 0 && bytes <= (int)sizeof(much));
	assert_int_equal(write(fds[1], much, (size_t)bytes), bytes);
	dup2(fds[1], STDERR_FILENO);
	log_set_patient(true);
	log_error("first");
	assert_false(log_ready());
	assert_int_equal(read(fds[0], much, sizeof(much)), bytes);
	log_error("second");
	assert_true(log_ready());
	log_set_patient(false);
	dup2(saved, STDERR_FILENO);
	n = read(fds[0], much, sizeof(much) - 1);
	assert_true(n > 0);
	much[n] = 0;
	assert_string_equal(much, "povtrace: first\npovtrace: second\n");
	close(saved);
	close(fds[0]);
	close(fds[1]);
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
	size_t len;

	log_set_level(LOG_ERROR);
	len = capture(say_much);
	assert_true(len > 1000 && len < 5000);
	assert_int_equal(said[len - 1], '\n');
	assert_null(memchr(said, '\n', len - 1));
}

static void say_dying(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		log_set_level(LOG_QUIET);
		die("%s", "over");
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

TEST(die)
{
	capture(say_dying);
	assert_string_equal(said, "povtrace: over\n");
}
