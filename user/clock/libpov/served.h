/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The client's side of a socket through which povtrace serves programs. The server's side is
 * lib/run_socket.h.
 */
#ifndef POV_CLOCK_LIBPOV_SERVED_H
#define POV_CLOCK_LIBPOV_SERVED_H

#include <stddef.h>

#define SERVED_FDS 2

/* A connection whose calls time out after some seconds, or -errno. */
int served_connect(const char *path);
/* Sends a whole request. 0, -ETIMEDOUT, -EPROTO or -errno. */
int served_send(int conn, const void *request, size_t bytes);
/*
 * Receives an answer of this size with its descriptors; missing ones are -1 in fd[]. 0, -ETIMEDOUT,
 * -EPROTO or -errno.
 */
int served_receive(int conn, void *answer, size_t bytes, int fd[SERVED_FDS]);

#endif
