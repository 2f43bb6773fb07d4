/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Requests to write what a --last recording has kept: by `povtrace dump`, and by slow calls. */
#ifndef POV_RECORD_FLIGHT_DUMP_REQUESTS_H
#define POV_RECORD_FLIGHT_DUMP_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pov_hdr;

/* ---- `povtrace dump` ---- */

/*
 * The socket on which `povtrace dump` asks a recorder for the newest part of its recording. The
 * recorder handles one request at a time; other clients wait to be accepted.
 */

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

/* ---- calls that took too long ---- */

/*
 * Calls that took too long, each of which requests a file of what is kept (record --when). Matching
 * calls between two files are only counted, which bounds the number of files.
 */

/* A condition such as "MPI_Allreduce > 50ms". */
struct trigger_when {
	const char *text;
	uint64_t over_ns;
	bool *func; /* by row of the function table */
};

/* A call that matched. */
struct trigger_call {
	const struct trigger_when *when;
	uint32_t pid, tid;
	uint16_t func;
	uint64_t begin_ns, end_ns;
};

struct trigger {
	const struct trigger_when *when;
	size_t when_cnt, func_cnt;
	bool quiet;		/* a file was requested; it is too early for another one */
	bool pending;		/* a file will be requested at due_ns */
	uint64_t due_ns;	/* when calls of other ranks have ended, too */
	struct trigger_call by; /* the call that matched */
	uint64_t matches, written;
};

/* when is borrowed. func_cnt is the number of rows of the function table. */
void trigger_init(struct trigger *t, const struct trigger_when *when, size_t cnt, size_t func_cnt);
/* Looks at a record of any kind. */
void trigger_record(struct trigger *t, const struct pov_hdr *rec);
/* Returns true, once, if a file must be written now. Then it stays quiet until trigger_rearm. */
bool trigger_due(struct trigger *t, uint64_t now_ns);
void trigger_rearm(struct trigger *t);

#endif
