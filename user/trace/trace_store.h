/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The back of the writer: one thread that compresses blocks and appends them to the file, and the
 * pool of block buffers that circulate between it and the adding thread. Private to user/trace.
 */
#ifndef POV_TRACE_STORE_H
#define POV_TRACE_STORE_H

#include <stdatomic.h>

#include "trace/trace_codec.h"
#include "trace/trace_format.h"
#include "trace/trace_keep.h"
#include "trace/trace_write.h"

struct store;

/* A block on its way to the file. Owned by its current holder: adding thread, queue, or pool. */
struct store_job {
	struct store_job *next;
	uint8_t type; /* enum trace_block_type */
	uint16_t stream;
	struct keep_tag tag;
	/* Not NULL: no block, but a request to write a file of all segments before tag.segment. */
	struct dump *dump;
	uint64_t opened_ns;
	struct trace_tally tally; /* EVENTS: tally of its records */
	struct codec_block block; /* EVENTS; its columns follow the job in memory */
	char *text;		  /* META; owned */
	size_t text_len;
};

/*
 * Takes over fd (closed on failure too) and writes the file header. keep must outlive the store;
 * NULL: none. With it, blocks stay in memory until the end. 0 or -errno (printed).
 */
int store_start(int fd, const char *path, const struct trace_writer_options *opt, struct keep *keep,
		struct store **out);
/* Adds two buffers for a new stream. */
void store_grow(struct store *s);
/* Returns an empty event block; may wait. */
struct store_job *store_get(struct store *s);
/* Queues the job and takes it over. */
void store_put(struct store *s, struct store_job *job);
void store_put_meta(struct store *s, const struct keep_tag *tag, const char *text, size_t len);
/* Starts writing a file once everything queued before has been stored. */
void store_put_dump(struct store *s, struct dump *dump, uint64_t until);
/* Waits until the queue is written. */
void store_drain(struct store *s);
/* Size of file and queue if nothing compresses. */
uint64_t store_worst_bytes(struct store *s);
/* Returns where the error is: 0 or -errno, sticky. Valid until store_finish. */
const atomic_int *store_failed(const struct store *s);
/* Fills in file_bytes, lost and waits. */
void store_get_stats(struct store *s, struct trace_writer_stats *out);
/*
 * Writes the queue and, if nothing failed, the end block. Closes and frees. 0 or the first -errno.
 */
int store_finish(struct store *s);

#endif
