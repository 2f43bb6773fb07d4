/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "libpov/ask.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_USUAL "/run/povtrace/clock.sock"
#define SOCKET_VARIABLE "POVTRACE_CLOCK"
#define ANSWER_SECONDS 5

/* Only root serves. */
static int server_check(int conn)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	if (getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		return -errno;
	return who.uid ? -EPERM : 0;
}

static int server_connect(void)
{
	const char *path = secure_getenv(SOCKET_VARIABLE);
	const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int conn, err;

	path = path ? path : SOCKET_USUAL;
	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	strcpy(at.sun_path, path);
	conn = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (conn < 0)
		return -errno;
	setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(conn, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	err = connect(conn, (struct sockaddr *)&at, sizeof(at)) ? -errno : server_check(conn);
	if (!err)
		return conn;
	close(conn);
	return err;
}

/* Receives an answer and its descriptors; fd[] of those that did not come is -1. */
static int answer_take(int conn, struct pov_clock_answer *answer, int fd[ASK_FDS])
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(ASK_FDS * sizeof(int))];
	} control;
	struct iovec data = {answer, sizeof(*answer)};
	struct msghdr msg = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(conn, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg);

	for (int i = 0; i < ASK_FDS; i++)
		fd[i] = -1;
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	if (n != sizeof(*answer) || answer->magic != POV_CLOCK_MAGIC ||
	    answer->version != POV_CLOCK_VERSION)
		return -EPROTO;
	return answer->status;
}

/* Not in a child: it would see its parent's. */
static void *map(int fd, size_t bytes, bool writable)
{
	void *page = mmap(NULL, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return NULL;
	madvise(page, bytes, MADV_DONTFORK);
	return page;
}

static int pages_map(enum pov_clock_wish wish, const int fd[ASK_FDS], struct asked *out)
{
	size_t cores = out->cpus * sizeof(struct pov_clock_core);

	if (wish == POV_CLOCK_WISH_CLOCK) {
		out->page[0] = map(fd[0], sizeof(struct pov_clock_process), false);
		return out->page[0] ? 0 : -errno;
	}
	out->page[0] = map(fd[0], sizeof(struct pov_clock_section), true);
	out->page[1] = out->page[0] ? map(fd[1], cores, false) : NULL;
	if (out->page[1])
		return 0;
	if (out->page[0])
		munmap(out->page[0], sizeof(struct pov_clock_section));
	return -errno;
}

int ask(enum pov_clock_wish wish, struct asked *out)
{
	struct pov_clock_request request = {
		.magic = POV_CLOCK_MAGIC, .version = POV_CLOCK_VERSION, .wish = wish};
	struct pov_clock_answer answer;
	int fd[ASK_FDS], conn, err;

	conn = server_connect();
	if (conn < 0)
		return conn;
	if (send(conn, &request, sizeof(request), MSG_NOSIGNAL) < 0) {
		err = -errno;
		close(conn);
		return err;
	}
	err = answer_take(conn, &answer, fd);
	close(conn);
	if (!err) {
		*out = (struct asked){.cpus = answer.cpus};
		err = pages_map(wish, fd, out);
	}
	for (int i = 0; i < ASK_FDS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return err;
}
