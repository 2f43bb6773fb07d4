/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An open trace: its index of blocks, and the loading of one. Private to user/trace.
 */
#ifndef POV_TRACE_FILE_H
#define POV_TRACE_FILE_H

#include <zstd.h>

#include "trace/trace_format.h"
#include "trace/trace_read.h"

struct block_ref {
	uint64_t offset; /* of the header in the file */
	struct trace_block_header h;
	bool missing_before; /* blocks between the one before it and this one are missing */
	bool bad;	     /* its payload was found damaged; counted */
	bool checked;	     /* read to its end: its malformed records are counted, and … */
	bool tells;	     /* … it is known whether there may be records of losses in it */
};

struct trace_joined;

struct trace {
	struct trace_joined *joined; /* several traces as one, and no file; or NULL. Owned */
	int fd;
	char *path;
	uint64_t size; /* of the file when opened, bytes */
	struct trace_summary sum;
	struct block_ref *ref; /* META and EVENTS blocks in file order; owned */
	size_t nrefs;
	json_t **meta; /* owned references */
	size_t nmeta;
	uint64_t meta_bytes; /* what they take at most */
	/* Scratch of block_load. */
	ZSTD_DCtx *dctx;
	uint8_t *stored, *raw;
	size_t stored_room, raw_room;
};

/* Memory for `need` bytes, *room of it being there; what was in it is gone if it was too little. */
void *trace_scratch(void *buf, size_t *room, size_t need);
/*
 * Loads a block's payload, checked and decompressed: h.raw_len bytes at *raw, valid until the next
 * load. A damaged block is told on stderr and counted once; then -EBADMSG. -errno (printed) if
 * reading fails.
 */
int trace_block_load(struct trace *t, struct block_ref *ref, const uint8_t **raw);
/* Marks and counts a block as damaged. Returns -EBADMSG. */
int trace_block_reject(struct trace *t, struct block_ref *ref, const char *why);

#endif
