/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Where a recorder is asked for what it keeps (lib/dump_request.h): one request at a time, others wait to be accepted. */
#ifndef POV_RECORD_FLIGHT_DUMP_SOCKET_H
#define POV_RECORD_FLIGHT_DUMP_SOCKET_H

#include <stdbool.h>

#include "lib/dump_request.h"

struct dump_socket {
	char *path;
	int fd, conn; /* -1: none */
};

/* Where it cannot be, nobody ever asks (printed). */
void dump_socket_open(struct dump_socket *s);
void dump_socket_close(struct dump_socket *s);
/* Whether root has asked; never waits. Until it is answered there is no other one. */
bool dump_socket_asked(struct dump_socket *s, struct dump_request *out);
void dump_socket_answer(struct dump_socket *s, const struct dump_answer *answer);

#endif
