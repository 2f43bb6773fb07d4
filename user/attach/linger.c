/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Holds copies of the tracer's file descriptors by having been forked; its exit closes them. */
#include "attach/linger.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"

static void linger_main(int fd)
{
	char c;

	setsid();
	prctl(PR_SET_NAME, "povtrace-linger");
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (int i = 0; i < 3; i++) /* nobody shall wait for us by a pipe */
		close(i);
	while (read(fd, &c, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

void linger_start(void)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		goto fail;
	pid = fork();
	if (pid < 0)
		goto fail;
	if (!pid) {
		close(fds[1]); /* the other end is the tracer's alone, until it exits */
		linger_main(fds[0]);
	}
	close(fds[0]);
	log_warn("the kernel is still taking probes back; process %d waits for that", pid);
	return;
fail:
	log_warn("must wait until the kernel has taken its probes back: %s", strerror(errno));
}
