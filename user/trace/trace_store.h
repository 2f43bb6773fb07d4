/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The writer's back: one thread that compresses blocks and appends them to the file, and the pool
 * of block buffers that go round between it and the adding thread. Private to user/trace.
 */
#ifndef POV_TRACE_STORE_H
#define POV_TRACE_STORE_H

#include "trace/trace_codec.h"
#include "trace/trace_dump.h"
#include "trace/trace_format.h"
#include "trace/trace_keep.h"
#include "trace/trace_write.h"

struct store;

/* A block on its way to the file. Owned by whoever holds it: adding thread, queue, or pool. */
struct store_job {
	struct store_job *next;
	uint8_t type; /* enum trace_block_type */
	uint16_t stream;
	struct keep_tag tag;
	struct dump *
		dump; /* not NULL: it is none, but a file is to be made of what is kept (tag.segment: until there) */
	uint64_t opened_ns;
	struct trace_tally tally; /* EVENTS: its records */
	struct codec_block block; /* EVENTS; its columns lie behind the job */
	char *text;		  /* META; owned */
	size_t text_len;
};

/* Takes over fd (closed on failure too). Writes the file header. keep (outlives it): blocks are kept there until the end. 0 or -errno (printed). */
int store_start(int fd, const char *path, const struct trace_writer_options *opt, struct keep *keep,
		struct store **out);
void store_grow(struct store *s);			/* two more buffers, for a new stream */
struct store_job *store_get(struct store *s);		/* an empty event block; may wait */
void store_put(struct store *s, struct store_job *job); /* to the queue; takes it over */
void store_put_meta(struct store *s, const struct keep_tag *tag, const char *text, size_t len);
/* Has a file begun when all that was put before is kept. */
void store_put_dump(struct store *s, struct dump *dump, uint64_t until);
void store_drain(struct store *s);	     /* waits until the queue is written */
uint64_t store_worst_bytes(struct store *s); /* file and queue, if nothing compresses */
int store_error(struct store *s);	     /* sticky, 0 or -errno */
void store_get_stats(struct store *s, struct trace_writer_stats *out); /* file_bytes, lost, waits */
/* Writes the queue and, if nothing failed, the end block; closes; frees. 0 or the first -errno. */
int store_finish(struct store *s);

#endif
