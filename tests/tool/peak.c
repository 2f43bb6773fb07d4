/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * peak COMMAND…: runs the command. Prints its peak memory (KiB resident) and its exit status to
 * descriptor 3; for a signal, the status is 128 plus its number. For tests only.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage used;
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = vfork();
	if (!pid) {
		close(3);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
		return 1;
	dprintf(3, "%ld %d\n", used.ru_maxrss,
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
