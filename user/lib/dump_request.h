/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What `povtrace dump` and a recorder that keeps the newest part of its recording say to each other. */
#ifndef POV_LIB_DUMP_REQUEST_H
#define POV_LIB_DUMP_REQUEST_H

#include <stdint.h>

/* Where a recorder listens: SOCK_SEQPACKET, for root only; the number is its process's. */
#define DUMP_SOCKET_DIR "/run/povtrace"
#define DUMP_SOCKET_BEGIN "record."
#define DUMP_SOCKET_END ".sock"

#define DUMP_MAGIC 0x50564431u /* PVD1 */
#define DUMP_PATH_BYTES 4096

struct dump_request {
	uint32_t magic;
	uint32_t pad;
	char path[DUMP_PATH_BYTES]; /* absolute; empty: as the recorder names it */
};

/* Sent when the file is complete. */
struct dump_answer {
	uint32_t magic;
	int32_t status; /* 0 or -errno; what was wrong the recorder has printed */
	uint64_t begin_ns, end_ns;
	uint64_t bytes;
	char path[DUMP_PATH_BYTES];
};

#endif
