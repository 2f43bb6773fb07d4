/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Runs one povtrace-lines per file and asks it over a socket, which is its stdin and stdout. If it
 * has ended, MSG_NOSIGNAL makes writing to the socket fail; writing to a pipe would raise SIGPIPE.
 */
#include "site/module_names.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/log.h"
#include "model/model.h"

#define ANSWER_SECONDS 60 /* the first answer needs tables of the whole file */

/* Without this, libdw might ask servers for debug information. The caller frees it. */
static char **environment_offline(void)
{
	size_t n = 0, kept = 0;
	char **env;

	while (environ[n])
		n++;
	env = xcalloc(n + 1, sizeof(*env));
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "DEBUGINFOD_", strlen("DEBUGINFOD_")))
			env[kept++] = environ[i];
	return env;
}

/* 0 or an errno value. */
static int lines_spawn(const char *program, char *const *argv, int fd, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	char **env = environment_offline();
	int err;

	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, fd, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(pid, program, &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	free(env);
	return err;
}

void module_names_start(struct module_names *n, const char *program,
			const struct model_module *file)
{
	const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	char stamp[24];
	const char *argv[] = {program, file->path, file->build_id, stamp, NULL};
	int ends[2];

	n->fd = -1;
	snprintf(stamp, sizeof(stamp), "%" PRIu64, file->stamp);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return;
	if (setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    lines_spawn(program, (char *const *)argv, ends[1], &n->pid))
		close(ends[0]);
	else
		n->fd = ends[0];
	close(ends[1]);
}

static bool lines_receive(int fd, void *out, size_t bytes)
{
	return !bytes || recv(fd, out, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

/* 0; 1: nothing is known about that place; -1: no more answers will come. */
static int lines_ask(int fd, uint64_t offset, struct site_answer *out, char *function, char *file)
{
	struct site_answer a;

	if (send(fd, &offset, sizeof(offset), MSG_NOSIGNAL) != sizeof(offset) ||
	    !lines_receive(fd, &a, sizeof(a)) || a.function_bytes > SITE_NAME_BYTES ||
	    a.file_bytes > SITE_NAME_BYTES || !lines_receive(fd, function, a.function_bytes) ||
	    !lines_receive(fd, file, a.file_bytes))
		return -1;
	function[a.function_bytes] = file[a.file_bytes] = '\0';
	*out = a;
	return !a.function_bytes;
}

bool module_names_find(struct module_names *n, uint64_t offset, struct site_answer *out,
		       char function[SITE_NAME_BYTES + 1], char file[SITE_NAME_BYTES + 1])
{
	int err = n->fd < 0 ? -1 : lines_ask(n->fd, offset, out, function, file);

	if (err < 0)
		module_names_stop(n);
	return !err;
}

void module_names_stop(struct module_names *n)
{
	if (n->fd < 0)
		return;
	close(n->fd);
	n->fd = -1;
	kill(n->pid, SIGKILL);
	waitpid(n->pid, NULL, 0);
}
