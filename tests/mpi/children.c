/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A rank that starts a program and forks a child without one at each SIGUSR1. Both go on until the
 * rank ends, by SIGTERM.
 *
 * Prints "ready PID" and for each pair "pair PROGRAM-PID CHILD-PID MS", where MS is how long after
 * the fork the program began.
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static pid_t child(int until_exec)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (until_exec >= 0) {
		usleep(15000); /* so that probes could come before */
		execl("/bin/sleep", "sleep", "600", (char *)NULL);
	}
	while (1)
		pause();
}

/* The descriptor is closed as the program begins. */
static void pair_start(void)
{
	double begin = now_ms();
	int until_exec[2];
	pid_t program;
	char c;

	if (pipe2(until_exec, O_CLOEXEC))
		return;
	program = child(until_exec[1]);
	close(until_exec[1]);
	if (!read(until_exec[0], &c, 1))
		begin = now_ms() - begin;
	close(until_exec[0]);
	printf("pair %d %d %.0f\n", program, child(-1), begin);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	sigset_t both;
	int sig = 0;

	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGTERM);
	sigprocmask(SIG_BLOCK, &both, NULL);
	MPI_Init(&argc, &argv);
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (!sigwait(&both, &sig) && sig == SIGUSR1)
		pair_start();
	MPI_Finalize();
	return 0;
}
