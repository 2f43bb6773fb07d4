/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "lib/run_socket.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"

static int directory_make(const char *path)
{
	char copy[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct stat st;
	const char *dir;

	snprintf(copy, sizeof(copy), "%s", path);
	dir = dirname(copy);
	if (mkdir(dir, 0755) ? errno != EEXIST : chmod(dir, 0755)) /* independent of our umask */
		return -errno;
	if (stat(dir, &st))
		return -errno;
	return !st.st_uid && !(st.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : -EPERM;
}

int run_socket_place(const char *path, struct sockaddr_un *at)
{
	*at = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(at->sun_path))
		return -ENAMETOOLONG;
	strcpy(at->sun_path, path);
	return directory_make(path);
}

bool run_socket_is_served(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool served = fd >= 0 &&
		      (!connect(fd, (const struct sockaddr *)at, sizeof(*at)) || errno == EAGAIN);

	if (fd >= 0)
		close(fd);
	return served;
}

int run_socket_listen(const struct sockaddr_un *at, int backlog)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	if (fd < 0)
		return -errno;
	if (*at->sun_path)
		unlink(at->sun_path);
	if (!bind(fd, (const struct sockaddr *)at, sizeof(*at)) &&
	    (!*at->sun_path || !chmod(at->sun_path, 0666)) && !listen(fd, backlog))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

void run_socket_send(int conn, const void *answer, size_t bytes, const int *fd, unsigned int fd_cnt)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(RUN_SOCKET_FDS * sizeof(int))];
	} control = {0};
	struct iovec data = {(void *)answer, bytes};
	struct msghdr msg = {.msg_iov = &data, .msg_iovlen = 1};

	if (fd_cnt) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(fd_cnt * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(fd_cnt * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fd, fd_cnt * sizeof(int));
	}
	if (sendmsg(conn, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		log_debug("cannot answer: %s", strerror(errno));
}

void run_socket_sweep(const char *dir, const char *begin)
{
	size_t len = strlen(begin);
	DIR *d = opendir(dir);
	struct dirent *e;
	int pid, end;

	while (d && (e = readdir(d))) {
		end = 0;
		if (!strncmp(e->d_name, begin, len) &&
		    sscanf(e->d_name + len, "%d.sock%n", &pid, &end) == 1 && end &&
		    !e->d_name[len + (size_t)end] && pid > 0 && kill(pid, 0) && errno == ESRCH)
			unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
}
