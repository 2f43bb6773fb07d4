/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* An open trace: its index of blocks, and loading a block. Private to user/trace. */
#ifndef POV_TRACE_FILE_H
#define POV_TRACE_FILE_H

#include <zstd.h>

#include "trace/trace_format.h"
#include "trace/trace_read.h"

struct block_ref {
	uint64_t offset; /* of the header, in the file */
	struct trace_block_header h;
	bool missing_before; /* blocks directly before this one are missing */
	bool bad;	     /* payload was found damaged; already counted */
	bool checked;	     /* read to its end; its malformed records are counted */
	bool tells;	     /* if checked: the block may contain records of losses */
};

struct trace_joined;

struct trace {
	/* several traces read as one, without a file; or NULL; owned */
	struct trace_joined *joined;
	int fd;
	char *path;
	uint64_t size; /* of the file when it was opened, bytes */
	struct trace_summary sum;
	struct block_ref *ref; /* META and EVENTS blocks in file order; owned */
	size_t nrefs;
	json_t **meta; /* owned references */
	size_t nmeta;
	uint64_t meta_bytes; /* upper bound of their memory */
	/* Buffers of trace_block_load(). */
	ZSTD_DCtx *dctx;
	uint8_t *stored, *raw;
	size_t stored_room, raw_room;
};

/*
 * Returns memory for `need` bytes. buf has *room bytes; its content is lost if that is too little.
 */
void *trace_scratch(void *buf, size_t *room, size_t need);
/*
 * Loads, checks and decompresses a block's payload: h.raw_len bytes at *raw, valid until the next
 * load. A damaged block is reported on stderr and counted once; then -EBADMSG. -errno (printed) if
 * reading fails.
 */
int trace_block_load(struct trace *t, struct block_ref *ref, const uint8_t **raw);
/* Marks and counts a block as damaged. Returns -EBADMSG. */
int trace_block_reject(struct trace *t, struct block_ref *ref, const char *why);

#endif
