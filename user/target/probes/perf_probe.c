/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The event is opened disabled: programs run all the same (uprobe_perf_func), and perf itself does
 * nothing. The numbers in sysfs are read once and not for each of hundreds of probes.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/log.h"
#include "target/probes/links.h"

#define UPROBE_DIR "/sys/bus/event_source/devices/uprobe/"

static int number_read(const char *path, const char *format, unsigned int *out)
{
	FILE *f = fopen(path, "re");
	int err = 0;

	if (!f)
		return -errno;
	if (fscanf(f, format, out) != 1)
		err = -EINVAL;
	fclose(f);
	return err;
}

int perf_probe_kind_read(struct perf_probe_kind *out)
{
	unsigned int type, bit;
	int err;

	err = number_read(UPROBE_DIR "type", "%u", &type);
	if (!err)
		err = number_read(UPROBE_DIR "format/retprobe", "config:%u", &bit);
	if (err)
		return err;
	*out = (struct perf_probe_kind){.type = type, .ret_bit = 1ull << (bit & 63)};
	return 0;
}

/*
 * An event of a process filters by its memory (__uprobe_perf_filter), so the program runs for all
 * threads on all CPUs. The CPU only limits where the scheduler handles the event, which stays
 * disabled.
 */
int perf_probe_attach(const struct perf_probe_kind *kind, int prog_fd, bool ret, pid_t pid,
		      const char *path, uint64_t offset, uint64_t cookie, struct perf_probe *out)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = kind->type,
		.config = ret ? kind->ret_bit : 0,
		.uprobe_path = (uintptr_t)path,
		.probe_offset = offset,
		.disabled = 1,
	};
	int event_fd, link_fd, err;

	event_fd = syscall(SYS_perf_event_open, &attr, pid ?: -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event_fd < 0)
		return -errno;
	link_fd = bpf_link_create(prog_fd, event_fd, BPF_PERF_EVENT, &opts);
	if (link_fd < 0) {
		err = -errno;
		close(event_fd);
		return err;
	}
	*out = (struct perf_probe){.event_fd = event_fd, .link_fd = link_fd};
	return 0;
}

void perf_probe_close(const struct perf_probe *probe)
{
	close(probe->link_fd);
	if (probe->event_fd >= 0)
		close(probe->event_fd);
}

void perf_probes_add(struct perf_probes *probes, const struct perf_probe *probe)
{
	if (probes->cnt == probes->cap) {
		probes->cap = probes->cap ? 2 * probes->cap : 16;
		probes->v = xrealloc(probes->v, probes->cap * sizeof(*probes->v));
	}
	probes->v[probes->cnt++] = *probe;
}

/* ---- probes left by a recording ---- */

/*
 * To detach a program from its event and then to remove the event, the kernel waits for grace
 * periods under bpf_event_mutex (perf_event_detach_bpf_prog, since ef1b808e3b7c and in stable
 * series) and under event_mutex (perf_uprobe_destroy). So several threads would not be faster,
 * because nothing overlaps. Just exiting does not help either: a parent that waits for the process
 * waits until its files are closed.
 */

/*
 * Pause between closes. Others can take these mutexes meanwhile, so the next recording can attach
 * some dozens of probes.
 */
#define PAUSE_NS 20000000L

#define TURN_FILE "/run/povtrace-close.lock"
#define TURN_PAUSE_NS 100000000L
#define TURN_NS 300000000000L /* twice the time for all functions */

/*
 * Closes all descriptors except ours, so that nobody waits for us at the end of a pipe or terminal.
 */
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
 * Waits until no other such process works; otherwise the next recording would rarely get a turn.
 * The lock is on a file that only root can open, because any user who can open a file can lock it.
 * Without the lock, or after too long a wait, it goes on without a turn.
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

/* May be killed at any time: then the kernel closes the rest. */
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
			log_info("process %d removes %zu probes in the background", pid,
				 leftover->probes.cnt);
		else
			log_warn("fork: %s; waiting until the kernel has removed %zu probes",
				 strerror(errno), leftover->probes.cnt);
	}
	for (size_t i = 0; i < leftover->probes.cnt; i++)
		perf_probe_close(&leftover->probes.v[i]);
	if (leftover->rings)
		close(leftover->rings_fd);
	free(leftover->probes.v);
	memset(leftover, 0, sizeof(*leftover));
}
