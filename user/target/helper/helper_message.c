/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Messages between the collector and its helper: JSON, one object a packet, with descriptors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/log.h"
#include "target/helper/helper_service.h"

int helper_message_send(int sock, const json_t *message, const int *fds, size_t fd_cnt)
{
	char *text = json_dumps(message, JSON_COMPACT);
	char control[CMSG_SPACE(HELPER_FDS_MAX * sizeof(int))] = {0};
	struct iovec io = {.iov_base = text, .iov_len = text ? strlen(text) : 0};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
	struct cmsghdr *c;
	ssize_t n;

	if (!text)
		return -EINVAL;
	if (fd_cnt) {
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(fd_cnt * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(fd_cnt * sizeof(int));
		memcpy(CMSG_DATA(c), fds, fd_cnt * sizeof(int));
	}
	do
		n = sendmsg(sock, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	free(text);
	return n < 0 ? -errno : 0;
}

json_t *helper_message_receive(int sock, int flags, int *fds, size_t *fd_cnt)
{
	char control[CMSG_SPACE(HELPER_FDS_MAX * sizeof(int))];
	struct iovec io = {0};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	json_t *message;
	ssize_t n;

	*fd_cnt = 0;
	do
		n = recv(sock, NULL, 0, flags | MSG_PEEK | MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		errno = n ? errno : 0;
		return NULL;
	}
	io.iov_len = (size_t)n;
	io.iov_base = xmalloc(io.iov_len);
	n = recvmsg(sock, &m, flags | MSG_CMSG_CLOEXEC);
	for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		*fd_cnt = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), *fd_cnt * sizeof(int));
	}
	message = n > 0 ? json_loadb(io.iov_base, (size_t)n, 0, NULL) : NULL;
	free(io.iov_base);
	if (!message)
		errno = EBADMSG;
	return message;
}
