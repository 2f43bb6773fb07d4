/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * To take a program from its event, and then the event away, the kernel waits for grace periods under
 * bpf_event_mutex (perf_event_detach_bpf_prog, since ef1b808e3b7c and in stable series) and under event_mutex
 * (perf_uprobe_destroy). So neither would several threads be quicker, for nothing overlaps, nor is it enough to
 * exit, for whoever waits for the process waits until its files are closed.
 */
#include "target/probes/leftover_probes.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/fd.h"
#include "lib/log.h"

/* Between two closes others get at those mutexes, so that the next recording attaches some dozens meanwhile. */
#define PAUSE_NS 20000000L

#define TURN_FILE "/run/povtrace-close.lock"
#define TURN_PAUSE_NS 100000000L
#define TURN_NS 300000000000L /* twice what all functions take */

/* All descriptors but ours: whoever waits for the end of a pipe or a terminal is not kept waiting. */
static void others_close(const struct leftover_probes *leftover)
{
	int *ours = xcalloc(2 * leftover->probes.cnt + 1, sizeof(*ours));
	size_t n = 0;

	for (size_t i = 0; i < leftover->probes.cnt; i++) {
		ours[n++] = leftover->probes.v[i].link_fd;
		ours[n++] = leftover->probes.v[i].event_fd;
	}
	if (leftover->rings)
		ours[n++] = leftover->rings_fd;
	fd_close_others(ours, n);
	free(ours);
}

static void slow_close(int fd)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	nanosleep(&pause, NULL);
	close(fd);
}

/*
 * One such process works at a time, or the next recording's turn would come too seldom. By a lock on a file that only
 * root can open, for whoever can open a file can lock it; without one, or when it takes too long, without turns.
 */
static void turn_await(void)
{
	const struct timespec pause = {.tv_nsec = TURN_PAUSE_NS};
	int fd = open(TURN_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid || st.st_mode & 0077) {
		log_debug("%s: not to be used; no turns are taken", TURN_FILE);
		return;
	}
	for (long i = 0; i < TURN_NS / TURN_PAUSE_NS && flock(fd, LOCK_EX | LOCK_NB); i++)
		nanosleep(&pause, NULL);
}

/* May be killed at any time: the kernel then closes the rest. */
static _Noreturn void closing_main(const struct leftover_probes *leftover)
{
	others_close(leftover);
	setsid();
	prctl(PR_SET_NAME, "povtrace-close");
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	if (chdir("/"))
		_exit(1);
	for (unsigned int i = 0; i < leftover->rings; i++)
		bpf_map_delete_elem(leftover->rings_fd, &i);
	if (leftover->rings)
		close(leftover->rings_fd);
	turn_await();
	for (size_t i = 0; i < leftover->probes.cnt; i++)
		slow_close(leftover->probes.v[i].link_fd);
	for (size_t i = 0; i < leftover->probes.cnt; i++)
		slow_close(leftover->probes.v[i].event_fd);
	_exit(0);
}

void leftover_probes_close(struct leftover_probes *leftover)
{
	pid_t pid;

	if (leftover->probes.cnt) {
		pid = fork();
		if (!pid)
			closing_main(leftover);
		if (pid > 0)
			log_info("process %d takes %zu probes back in the background", pid,
				 leftover->probes.cnt);
		else
			log_warn("fork: %s; waiting for the kernel to take %zu probes back",
				 strerror(errno), leftover->probes.cnt);
	}
	for (size_t i = 0; i < leftover->probes.cnt; i++)
		perf_probe_close(&leftover->probes.v[i]);
	if (leftover->rings)
		close(leftover->rings_fd);
	free(leftover->probes.v);
	memset(leftover, 0, sizeof(*leftover));
}
