/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A file that blocks are appended to, each with one pwritev, so that whatever happens it is whole up to its last complete block.
 * The first failure is sticky: the file is cut back to the last complete block, and takes nothing more. Private to
 * user/trace.
 */
#ifndef POV_TRACE_APPEND_H
#define POV_TRACE_APPEND_H

#include <stdatomic.h>
#include <stdint.h>

#include "trace/trace_format.h"

struct append_file {
	int fd;
	const char *path;
	const char *fate;	/* what is said to become of it if it cannot be written */
	uint64_t max_bytes;	/* UINT64_MAX = no limit */
	uint64_t seq;		/* of the next block */
	_Atomic uint64_t bytes; /* others may read it, and err, at any time */
	atomic_int err;
};

/* Writes the file header. 0 or -errno (printed). */
int append_begin(struct append_file *f);
/* Seals and appends one block whose lengths and payload are final. 0 or the sticky -errno (printed once). */
int append_block(struct append_file *f, struct trace_block_header *h, const void *payload);
int append_end(struct append_file *f); /* the end block */
/* Closes. 0 or the first -errno met. */
int append_close(struct append_file *f);

#endif
