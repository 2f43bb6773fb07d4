/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The socket on which `povtrace dump` asks a recorder for the newest part of its recording. The
 * recorder handles one request at a time; other clients wait to be accepted.
 */
#ifndef POV_RECORD_FLIGHT_DUMP_SOCKET_H
#define POV_RECORD_FLIGHT_DUMP_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Path of a recorder's socket (SOCK_SEQPACKET, for root only): its process id is between the two
 * parts.
 */
#define DUMP_SOCKET_DIR "/run/povtrace"
#define DUMP_SOCKET_BEGIN "record."
#define DUMP_SOCKET_END ".sock"

#define DUMP_MAGIC 0x50564431u /* PVD1 */
#define DUMP_PATH_BYTES 4096

struct dump_request {
	uint32_t magic;
	uint32_t pad;
	char path[DUMP_PATH_BYTES]; /* absolute; empty: the recorder chooses the name */
};

/* Sent when the file is complete. */
struct dump_answer {
	uint32_t magic;
	int32_t status; /* 0 or -errno; the recorder has printed the reason */
	uint64_t begin_ns, end_ns;
	uint64_t bytes;
	char path[DUMP_PATH_BYTES];
};

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
