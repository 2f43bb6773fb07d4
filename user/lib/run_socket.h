/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A Unix socket (SOCK_SEQPACKET) at a path under /run by which root serves programs of any user. */
#ifndef POV_LIB_RUN_SOCKET_H
#define POV_LIB_RUN_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

/*
 * Makes the path's directory if it is missing. Only root may write to it, so that nobody else can
 * serve there. 0 or -errno.
 */
int run_socket_place(const char *path, struct sockaddr_un *at);
/* True if a server is listening there. */
bool run_socket_is_served(const struct sockaddr_un *at);
/*
 * Listens there, replacing what a former server may have left. A path that begins with a NUL is a
 * name in the abstract namespace. Returns a non-blocking descriptor, or -errno.
 */
int run_socket_listen(const struct sockaddr_un *at, int backlog);
/*
 * Removes sockets of killed servers: those at DIR/BEGIN<process>.sock whose process no longer
 * exists.
 */
void run_socket_sweep(const char *dir, const char *begin);
/*
 * Sends an answer with up to RUN_SOCKET_FDS descriptors. Gives up if the client is gone or does not
 * read.
 */
#define RUN_SOCKET_FDS 2
void run_socket_send(int conn, const void *answer, size_t bytes, const int *fd,
		     unsigned int fd_cnt);

#endif
