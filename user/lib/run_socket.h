/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A Unix socket (SOCK_SEQPACKET) at a path under /run by which root serves programs of any user. */
#ifndef POV_LIB_RUN_SOCKET_H
#define POV_LIB_RUN_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Makes the path's directory unless it is there; only root may write to it, so that nobody else can serve there. 0 or -errno. */
int run_socket_place(const char *path, struct sockaddr_un *at);
/* Whether somebody listens there. */
bool run_socket_is_served(const struct sockaddr_un *at);
/* Listens there, in the place of what may be left of one who did before. A descriptor that does not block, or -errno. */
int run_socket_listen(const struct sockaddr_un *at, int backlog);
/* Takes away what is left of servers that were killed: sockets at DIR/BEGIN<process>.sock of processes that are no more. */
void run_socket_sweep(const char *dir, const char *begin);
/* Sends an answer, with descriptors, RUN_SOCKET_FDS at most; not to somebody who is gone or does not take it. */
#define RUN_SOCKET_FDS 2
void run_socket_send(int conn, const void *answer, size_t bytes, const int *fd,
		     unsigned int fd_cnt);

#endif
