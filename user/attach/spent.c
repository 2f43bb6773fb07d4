/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * To take a program from its event, and then the event away, the kernel waits for grace periods under
 * bpf_event_mutex (perf_event_detach_bpf_prog, since ef1b808e3b7c and in stable series) and under event_mutex
 * (perf_uprobe_destroy). So neither would several threads be quicker, for nothing overlaps, nor is it enough to
 * exit, for whoever waits for the process waits until its files are closed.
 */
#include "attach/spent.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

/* Between two closes others get at those mutexes, so that the next recording attaches some dozens meanwhile. */
#define PAUSE_NS 20000000L

void spent_add(struct spent *spent, const struct perf_probe *probe, size_t cnt)
{
	if (spent->cnt + cnt > spent->cap) {
		spent->cap = 2 * (spent->cnt + cnt);
		spent->probe = xrealloc(spent->probe, spent->cap * sizeof(*spent->probe));
	}
	if (cnt)
		memcpy(spent->probe + spent->cnt, probe, cnt * sizeof(*probe));
	spent->cnt += cnt;
}

/* All descriptors but ours: whoever waits for the end of a pipe or a terminal is not kept waiting. */
static void others_close(const struct spent *spent)
{
	int max = spent->rings ? spent->rings_fd : 0;
	bool *ours;

	for (size_t i = 0; i < spent->cnt; i++) {
		max = spent->probe[i].link_fd > max ? spent->probe[i].link_fd : max;
		max = spent->probe[i].event_fd > max ? spent->probe[i].event_fd : max;
	}
	ours = xcalloc(max + 1, sizeof(*ours));
	for (size_t i = 0; i < spent->cnt; i++)
		ours[spent->probe[i].link_fd] = ours[spent->probe[i].event_fd] = true;
	if (spent->rings)
		ours[spent->rings_fd] = true;
	for (int fd = 0; fd <= max; fd++)
		if (!ours[fd])
			close(fd);
	close_range(max + 1, UINT_MAX, 0);
	free(ours);
}

static void slow_close(int fd)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	nanosleep(&pause, NULL);
	close(fd);
}

/* One such process works at a time, or the next recording's turn would come too seldom. */
static void turn_await(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX))
		log_debug("cannot take turns: %s", strerror(errno));
}

/* May be killed at any time: the kernel then closes the rest. */
static _Noreturn void spent_main(const struct spent *spent)
{
	others_close(spent);
	setsid();
	prctl(PR_SET_NAME, "povtrace-close");
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	if (chdir("/"))
		_exit(1);
	for (unsigned int i = 0; i < spent->rings; i++)
		bpf_map_delete_elem(spent->rings_fd, &i);
	if (spent->rings)
		close(spent->rings_fd);
	turn_await();
	for (size_t i = 0; i < spent->cnt; i++)
		slow_close(spent->probe[i].link_fd);
	for (size_t i = 0; i < spent->cnt; i++)
		slow_close(spent->probe[i].event_fd);
	_exit(0);
}

void spent_release(struct spent *spent)
{
	pid_t pid;

	if (spent->cnt) {
		pid = fork();
		if (!pid)
			spent_main(spent);
		if (pid > 0)
			log_info("process %d takes %zu probes back in the background", pid,
				 spent->cnt);
		else
			log_warn("fork: %s; waiting for the kernel to take %zu probes back",
				 strerror(errno), spent->cnt);
	}
	for (size_t i = 0; i < spent->cnt; i++)
		perf_probe_close(&spent->probe[i]);
	if (spent->rings)
		close(spent->rings_fd);
	free(spent->probe);
	memset(spent, 0, sizeof(*spent));
}
