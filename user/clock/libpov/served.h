/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The client's side of a socket by which povtrace serves programs (lib/run_socket.h is the other one). */
#ifndef POV_CLOCK_LIBPOV_SERVED_H
#define POV_CLOCK_LIBPOV_SERVED_H

#include <stddef.h>

#define SERVED_FDS 2

/* A connection on which nobody waits longer than some seconds, or -errno. */
int served_connect(const char *path);
/* Sends a request whole. 0, -ETIMEDOUT, -EPROTO or -errno. */
int served_send(int conn, const void *request, size_t bytes);
/* Takes an answer of that size, and its descriptors; fd[] of those that did not come is -1. 0, -ETIMEDOUT, -EPROTO or -errno. */
int served_receive(int conn, void *answer, size_t bytes, int fd[SERVED_FDS]);

#endif
