/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Waits on a pipe whose other end only the tracer holds; does nothing else while the tracer lives. */
#include "attach/guard.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

/* The kernel takes the probes of a dead tracer away one by one: look again for a while. */
#define PASSES 100
#define PASS_NS 20000000L

void guard_release(int held_fd, pid_t pid)
{
	unsigned int key = pid;

	bpf_map_delete_elem(held_fd, &key);
	kill(pid, SIGCONT);
}

static void release_all(int held_fd)
{
	unsigned int key, next;
	void *from = NULL;

	while (!bpf_map_get_next_key(held_fd, from, &next)) {
		key = next;
		from = NULL; /* the entry is gone: begin again */
		guard_release(held_fd, key);
	}
}

static void guard_main(int held_fd, int fd)
{
	const struct timespec pass = {.tv_nsec = PASS_NS};
	char c = 1; /* stays so at end of file: the tracer died */

	/* Nothing of the tracer's may stay alive through us but what is needed. */
	for (int i = 3, max = sysconf(_SC_OPEN_MAX); i < max && i < 4096; i++)
		if (i != held_fd && i != fd)
			close(i);
	setsid();
	prctl(PR_SET_NAME, "povtrace-guard");
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while (read(fd, &c, 1) < 0 && errno == EINTR)
		;
	for (int i = 0; i < PASSES; i++) {
		release_all(held_fd);
		if (!c)
			break;
		nanosleep(&pass, NULL);
	}
	_exit(0);
}

int guard_start(int held_fd, struct guard *out)
{
	int fds[2], err;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC)) {
		err = -errno;
		log_error("guard: pipe: %s", strerror(-err));
		return err;
	}
	pid = fork();
	if (pid < 0) {
		err = -errno;
		log_error("guard: fork: %s", strerror(-err));
		close(fds[0]);
		close(fds[1]);
		return err;
	}
	if (!pid) {
		close(fds[1]);
		guard_main(held_fd, fds[0]);
	}
	close(fds[0]);
	out->pid = pid;
	out->alive_fd = fds[1];
	return 0;
}

void guard_stop(struct guard *g)
{
	const char orderly = 0;

	if (g->pid <= 0)
		return;
	if (write(g->alive_fd, &orderly, 1) < 0)
		log_debug("guard: %s", strerror(errno));
	close(g->alive_fd);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	g->pid = 0;
}
