/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which job a process belongs to when its launcher does not name it: real processes with the environment that
 * Hydra gives, some behind a shell, as wrapper scripts are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/test.h"
#include "attach/proc.h"

/* Says its pid and stands still: while a program is being executed its environment cannot be read. */
#define STAY "echo $$; kill -STOP $$"
#define WRAPPED "sh -c '" STAY "' & wait"

/* A child of this process; its shell writes to `said`. */
static pid_t run(const char *path, char *const *argv, char *const *env, int said)
{
	pid_t pid = fork();

	if (!pid) {
		dup2(said, STDOUT_FILENO);
		execve(path, argv, env);
		_exit(127);
	}
	return pid;
}

/* What the shell said: a pid. */
static pid_t said_pid(int fd)
{
	char text[32] = "";
	size_t n = 0;

	while (n + 1 < sizeof(text) && read(fd, text + n, 1) == 1 && text[n] != '\n')
		n++;
	return atoi(text);
}

/* The job of a rank: started directly, or behind a shell. */
static void job_of(int rank, bool wrapped, const char *fd_var, char *job)
{
	char rank_var[32];
	char *argv[] = {"sh", "-c", wrapped ? WRAPPED : STAY, NULL};
	char *env[] = {rank_var, "PMI_SIZE=2", (char *)fd_var, "PATH=/usr/bin:/bin", NULL};
	struct proc_rank r;
	int pipe_fd[2];
	pid_t shell, pid;

	snprintf(rank_var, sizeof(rank_var), "PMI_RANK=%d", rank);
	assert_int_equal(pipe(pipe_fd), 0);
	shell = run("/bin/sh", argv, env, pipe_fd[1]);
	close(pipe_fd[1]);
	pid = said_pid(pipe_fd[0]);
	close(pipe_fd[0]);
	assert_true(pid > 0);
	assert_int_equal(proc_rank_read(pid, &r), 0);
	assert_int_equal(r.rank, rank);
	assert_int_equal(r.size, 2);
	assert_string_equal(r.launcher, "hydra");
	strcpy(job, r.job);
	if (pid != shell)
		kill(pid, SIGKILL);
	kill(shell, SIGKILL);
	waitpid(shell, NULL, 0);
}

TEST(wrapped)
{
	char direct[128], wrapped[128], mine[128];

	job_of(0, false, "PMI_FD=6", direct);
	job_of(1, true, "PMI_FD=8", wrapped);
	assert_string_equal(direct, wrapped);
	snprintf(mine, sizeof(mine), "hydra-%d-", getpid());
	assert_memory_equal(direct, mine, strlen(mine));
	assert_true(strlen(direct) > strlen(mine)); /* and when it started */
}

/* A launcher that a rank starts inherits that rank's place; its own ranks are a job of their own. */
TEST(launched_by_rank)
{
	char dir[] = "/tmp/test_proc.XXXXXX", path[64], want[32];
	char *argv[] = {"mpiexec", "-c", WRAPPED, NULL};
	char *env[] = {"PMI_RANK=0", "PMI_SIZE=2", "PMI_FD=6", "PATH=/usr/bin:/bin", NULL};
	struct proc_rank r;
	pid_t launcher, pid;
	int pipe_fd[2];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/mpiexec", dir);
	assert_int_equal(symlink("/bin/sh", path), 0);
	assert_int_equal(pipe(pipe_fd), 0);
	launcher = run(path, argv, env, pipe_fd[1]);
	close(pipe_fd[1]);
	pid = said_pid(pipe_fd[0]);
	close(pipe_fd[0]);
	unlink(path);
	rmdir(dir);
	assert_true(pid > 0);
	assert_int_equal(proc_rank_read(pid, &r), 0);
	kill(pid, SIGKILL);
	kill(launcher, SIGKILL);
	waitpid(launcher, NULL, 0);
	snprintf(want, sizeof(want), "hydra-%d-", launcher);
	assert_memory_equal(r.job, want, strlen(want));
}

TEST(singleton)
{
	char *argv[] = {"sh", "-c", STAY, NULL}, *env[] = {"PATH=/usr/bin:/bin", NULL};
	struct proc_rank r;
	int pipe_fd[2];
	char want[32];
	pid_t pid;

	assert_int_equal(pipe(pipe_fd), 0);
	pid = run("/bin/sh", argv, env, pipe_fd[1]);
	close(pipe_fd[1]);
	assert_int_equal(said_pid(pipe_fd[0]), pid);
	close(pipe_fd[0]);
	assert_int_equal(proc_rank_read(pid, &r), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_string_equal(r.launcher, "singleton");
	snprintf(want, sizeof(want), "pid-%d-", pid);
	assert_memory_equal(r.job, want, strlen(want));
}
