/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Starts a command through a chain of processes, each started in the next of these ways: fork,
 * vfork, posix_spawn, a fork in a thread that is not the first, and exec of itself. Each link waits
 * for the next and passes on its exit status. Usage: chain LINKS COMMAND [ARGUMENT…]
 */
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define STARTED_BY(how)                             \
	static int by_##how(char **argv)            \
	{                                           \
		pid_t pid = how();                  \
                                                    \
		if (pid == 0) {                     \
			execvp(argv[0], argv);      \
			_exit(127);                 \
		}                                   \
		return pid < 0 ? 1 : wait_for(pid); \
	}
STARTED_BY(fork)
STARTED_BY(vfork)

static int by_spawn(char **argv)
{
	pid_t pid;

	return posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) ? 1 : wait_for(pid);
}

struct job {
	char **argv;
	int status;
};

static void *in_thread(void *arg)
{
	struct job *job = arg;

	job->status = by_fork(job->argv);
	return NULL;
}

static int by_thread(char **argv)
{
	struct job job = {.argv = argv, .status = 1};
	pthread_t t;

	if (pthread_create(&t, NULL, in_thread, &job))
		return 1;
	pthread_join(t, NULL);
	return job.status;
}

static int by_exec(char **argv)
{
	execvp(argv[0], argv);
	perror(argv[0]);
	return 127;
}

int main(int argc, char **argv)
{
	static int (*const way[])(char **argv) = {by_fork, by_vfork, by_spawn, by_thread, by_exec};
	int links = argc > 2 ? atoi(argv[1]) : -1;
	char left[16];

	if (links < 0) {
		fprintf(stderr, "usage: %s LINKS COMMAND [ARGUMENT...]\n", argv[0]);
		return 2;
	}
	if (links == 0)
		return by_exec(argv + 2);
	snprintf(left, sizeof(left), "%d", links - 1);
	argv[1] = left;
	return way[links % 5](argv);
}
