/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "clock/libpov/served.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_SECONDS 5

int served_connect(const char *path)
{
	const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int conn, err;

	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	strcpy(at.sun_path, path);
	conn = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (conn < 0)
		return -errno;
	setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(conn, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	do
		err = connect(conn, (const struct sockaddr *)&at, sizeof(at)) ? -errno : 0;
	while (err == -EINTR);
	if (!err)
		return conn;
	close(conn);
	return err == -EAGAIN ? -ETIMEDOUT : err;
}

int served_send(int conn, const void *request, size_t bytes)
{
	ssize_t n;

	do
		n = send(conn, request, bytes, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return n == (ssize_t)bytes ? 0 : -EPROTO;
}

int served_receive(int conn, void *answer, size_t bytes, int fd[SERVED_FDS])
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(SERVED_FDS * sizeof(int))];
	} control;
	struct iovec data = {answer, bytes};
	struct msghdr msg = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	ssize_t n;

	do /* with a time limit no signal restarts it */
		n = recvmsg(conn, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
	for (int i = 0; i < SERVED_FDS; i++)
		fd[i] = -1;
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return n == (ssize_t)bytes ? 0 : -EPROTO;
}
