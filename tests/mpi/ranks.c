/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which processes are ranks, for tests/live/ranks.test: ranks MODE [FILE].
 *
 *	talk	a ring of messages
 *	fork	same; before that, each rank forks children that ask MPI for their rank and do not
 *		finalise it
 *	forked	the process itself does not initialise MPI; its child does, and talks
 *	never	asks whether MPI is initialised
 *	dies	is killed as soon as MPI_Init has returned
 *	title	has forked a child and overwritten its arguments and environment in memory, as
 *		setproctitle does; talks until FILE exists
 *	stay	talks until FILE exists
 *
 * Prints "rank R of S: PID" once it is initialised, and "child PID" of each child.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "expect.h"

#define MESSAGES 17
#define CHILDREN 3

extern char **environ;

static void say(void)
{
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	printf("rank %d of %d: %d\n", rank, size, getpid());
	fflush(stdout);
}

static void talk(int messages)
{
	int out = 0, in;

	for (int i = 0; i < messages; i++)
		MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 3, &in, 1, MPI_INT,
			     (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Runs in a child, which forks another one. Neither is a rank. */
static void child(void)
{
	pid_t pid = fork();

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Wtime();
	if (pid > 0)
		waitpid(pid, NULL, 0);
	_exit(0);
}

static void children_make(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (!pid)
			child();
		printf("child %d\n", pid);
		waitpid(pid, NULL, 0);
	}
}

/* Forks a child that ends with its parent. */
static void child_stay(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	printf("child %d\n", pid);
}

static void title_set(char **argv)
{
	char *end = argv[0] + strlen(argv[0]);
	char *const *v;
	size_t cnt = 0;
	char **copy;

	for (v = argv + 1; *v; v++)
		end = *v + strlen(*v);
	for (v = environ; *v; v++, cnt++)
		if (*v == end + 1) /* the library has set other variables elsewhere */
			end = *v + strlen(*v);
	copy = calloc(cnt + 1, sizeof(*copy));
	for (size_t i = 0; i < cnt; i++)
		copy[i] = strdup(environ[i]);
	environ = copy;
	memset(argv[0], 0, (size_t)(end - argv[0]));
	strcpy(argv[0], "worker");
}

static void stay(const char *file)
{
	int go = 1, own;

	say();
	while (go) {
		own = access(file, F_OK) != 0;
		MPI_Allreduce(&own, &go, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
		talk(1);
		usleep(1000);
	}
}

static void title(char **argv)
{
	char *file = strdup(argv[2]);

	title_set(argv);
	child_stay();
	stay(file);
}

static int never(void)
{
	int flag;

	MPI_Initialized(&flag);
	return flag;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	pid_t pid = -1;

	if (!strcmp(mode, "never"))
		return never();
	if (!strcmp(mode, "forked"))
		pid = fork();
	if (pid > 0)
		return waitpid(pid, NULL, 0) != pid;
	MPI_Init(NULL, NULL);
	if (!strcmp(mode, "dies"))
		kill(getpid(), SIGKILL);
	if (!strcmp(mode, "title")) {
		title(argv);
	} else if (!strcmp(mode, "stay")) {
		stay(argv[2]);
	} else {
		say();
		if (!strcmp(mode, "fork"))
			children_make();
		talk(MESSAGES);
	}
	MPI_Finalize();
	return 0;
}
