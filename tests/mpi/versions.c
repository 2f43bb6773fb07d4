/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Waits for SIGUSR1 and calls MPI_Get_version CALLS times. MPI need not be initialized for that, so
 * this is a program with an MPI library that starts immediately. With "fork" it then forks a child
 * that makes no MPI call and ends with status 7, and another one that calls MPI_Get_version until
 * SIGTERM.
 *
 * Usage: versions CALLS [fork]. Prints "ready PID", "called CALLS", "quiet child STATUS", "calling
 * child PID".
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signalled, over;

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		signalled = 1;
	else
		over = 1;
}

static void versions_get(int calls)
{
	int version, subversion;

	for (int i = 0; i < calls; i++)
		MPI_Get_version(&version, &subversion);
}

static int quiet_child(void)
{
	pid_t pid = fork();
	int status = 0;
	char *p;

	if (!pid) {
		for (int i = 1; i < 1000; i++) {
			p = malloc((size_t)i * 16);
			memset(p, i, (size_t)i * 16);
			free(p);
		}
		_exit(getpid() != getppid() ? 7 : 1);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static pid_t calling_child(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	while (!over) {
		versions_get(1);
		usleep(1000);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal};
	int calls = argc > 1 ? atoi(argv[1]) : 0;
	sigset_t usr1, before;
	pid_t child;

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, &before);
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (!signalled && !over)
		sigsuspend(&before);
	if (!over)
		versions_get(calls);
	printf("called %d\n", calls);
	fflush(stdout);
	if (argc > 2) {
		printf("quiet child %d\n", quiet_child());
		fflush(stdout);
		child = calling_child();
		printf("calling child %d\n", child);
		fflush(stdout);
		waitpid(child, NULL, 0);
	}
	return 0;
}
