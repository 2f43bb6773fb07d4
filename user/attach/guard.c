/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Waits for a lock that the tracer holds, which the kernel hands over as soon as the tracer dies; does nothing else
 * while it lives. A pipe whose other end only the tracer holds tells when its files are closed: with hundreds of
 * perf-event uprobes among them that takes the kernel minutes, in which processes may still be stopped.
 */
#include "attach/guard.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

/* The kernel takes the probes of a dead tracer away one by one: look again for a while. */
#define PASSES 100
#define PASS_MS 20

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

/* Robust, in memory shared with the guard, and held by the caller. NULL: none to be had. */
static pthread_mutex_t *lock_new(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t *lock;

	lock = mmap(NULL, sizeof(*lock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (lock == MAP_FAILED)
		return NULL;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_mutex_lock(lock);
	return lock;
}

static void guard_main(int held_fd, int fd, pthread_mutex_t *lock)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
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
	if (lock)
		pthread_mutex_lock(lock);
	while (poll(&p, 1, lock ? PASS_MS : -1) <= 0)
		release_all(held_fd);
	if (read(fd, &c, 1) < 0)
		c = 1;
	for (int i = 0; i < PASSES; i++) {
		release_all(held_fd);
		if (!c)
			break;
		poll(NULL, 0, PASS_MS);
	}
	_exit(0);
}

static void lock_free(struct guard *g)
{
	if (!g->lock)
		return;
	pthread_mutex_unlock(g->lock);
	munmap(g->lock, sizeof(*g->lock));
	g->lock = NULL;
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
	out->lock = lock_new();
	pid = fork();
	if (pid < 0) {
		err = -errno;
		log_error("guard: fork: %s", strerror(-err));
		lock_free(out);
		close(fds[0]);
		close(fds[1]);
		return err;
	}
	if (!pid) {
		close(fds[1]);
		guard_main(held_fd, fds[0], out->lock);
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
	lock_free(g);
	close(g->alive_fd);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	g->pid = 0;
}
