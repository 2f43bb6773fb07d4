/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The socket on which `povtrace dump` asks a recorder for what it keeps (lib/dump_request.h). It
 * handles one request at a time; other clients wait to be accepted.
 */
#ifndef POV_RECORD_FLIGHT_DUMP_SOCKET_H
#define POV_RECORD_FLIGHT_DUMP_SOCKET_H

#include <stdbool.h>

#include "lib/dump_request.h"

struct dump_socket {
	char *path;
	int fd, conn; /* -1: not open */
};

/* Opens the socket. If this fails (printed), no request ever arrives. */
void dump_socket_open(struct dump_socket *s);
void dump_socket_close(struct dump_socket *s);
/*
 * Returns true if root has sent a request. Never waits. Accepts no other request until this one is
 * answered.
 */
bool dump_socket_asked(struct dump_socket *s, struct dump_request *out);
void dump_socket_answer(struct dump_socket *s, const struct dump_answer *answer);

#endif
