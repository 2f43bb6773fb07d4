/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "target/probes/code_turn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "abi/preload.h"
#include "lib/run_socket.h"
#include "target/proc.h"

#define LOCK POV_PRELOAD_DIR "/code.lock"
#define TRIES 500
#define TRY_USECS 10000

/* Opens the file, which only root can open. */
int code_turn_open(void)
{
	struct sockaddr_un at;
	int err = run_socket_place(LOCK, &at), fd;

	if (err)
		return err;
	fd = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? -errno : fd;
}

/* Locks or unlocks a process's byte, or all bytes if pid is 0. False: it is locked by another. */
static bool range_lock(int fd, short type, pid_t pid)
{
	struct flock range = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = pid, .l_len = pid ? 1 : 0};

	return !fcntl(fd, F_OFD_SETLK, &range) || (errno != EAGAIN && errno != EACCES);
}

bool code_turn_jumps(int turn, pid_t pid)
{
	return turn < 0 || range_lock(turn, F_WRLCK, pid);
}

void code_turn_jumps_end(int turn, pid_t pid)
{
	if (turn >= 0)
		range_lock(turn, F_UNLCK, pid);
}

struct hooked {
	ino_t ino;
	bool (*has_jumps)(pid_t pid);
	pid_t pid; /* 0: none found */
};

static int hooked_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct hooked *h = ctx;
	struct proc_maps maps;

	if (h->pid || !h->has_jumps(pid) || proc_maps_read(pid, &maps))
		return 0;
	for (size_t i = 0; i < maps.cnt && !h->pid; i++)
		if (maps.map[i].ino == h->ino)
			h->pid = pid;
	proc_maps_release(&maps);
	return 0;
}

int code_turn_breakpoints(pid_t pid, ino_t ino, bool (*has_jumps)(pid_t pid), char *why,
			  size_t bytes)
{
	struct hooked hooked = {.ino = ino, .has_jumps = has_jumps};
	int fd = code_turn_open();
	bool busy = false;

	for (int i = 0; fd >= 0 && i < TRIES; i++) {
		busy = !range_lock(fd, F_WRLCK, pid);
		if (!busy)
			break;
		usleep(TRY_USECS);
	}
	if (busy)
		snprintf(why, bytes, "%s",
			 pid ? "another recording is just preparing it" :
			       "a process of another recording is being prepared");
	else if (!pid)
		proc_for_each(hooked_visit, &hooked);
	if (hooked.pid)
		snprintf(why, bytes,
			 "process %d was launched by povtrace, and breakpoints would break the "
			 "jumps in its code",
			 hooked.pid);
	if (!busy && !hooked.pid)
		return fd < 0 ? -1 : fd;
	code_turn_end(fd);
	return -2;
}

void code_turn_end(int turn)
{
	if (turn < 0)
		return;
	range_lock(turn, F_UNLCK, 0); /* a process forked meanwhile has the descriptor, too */
	close(turn);
}
