/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The back of the writer: one thread that compresses blocks and appends them to the file, and the
 * pool of block buffers that circulate between it and the adding thread. Private to user/trace.
 *
 * With a keep, the newest part of a recording is stored in memory instead (trace_write.h), as
 * blocks that are final except for their numbers in a file. It is a sequence of segments;
 * everything before the first one has been dropped. A whole segment begins with all that a reader
 * must know of the past, so that a file may begin there.
 */
#ifndef POV_TRACE_STORE_H
#define POV_TRACE_STORE_H

#include <stdatomic.h>
#include <stdint.h>

#include "trace/trace_append.h"
#include "trace/trace_codec.h"
#include "trace/trace_format.h"
#include "trace/trace_write.h"

/* ---- trace_keep.c ---- */

struct keep;

/* Where a block belongs. */
struct keep_tag {
	enum trace_place place;
	uint64_t segment; /* number of the segment */
	uint32_t pid;	  /* process that a meta object describes; 0: none */
};

struct kept_block;

/* Blocks of one file, in its order. */
struct kept_list {
	struct kept_block **block; /* owned; holds a reference to each block */
	size_t cnt;
};

struct keep *keep_new(uint64_t span_ns, uint64_t bytes);
void keep_free(struct keep *k);

/*
 * Starts a segment and drops data beyond the requested span or size. Only one thread may change
 * segments.
 */
void keep_segment_begin(struct keep *k, uint64_t begin_ns, bool whole);
/* Number of the segment at that time; false if it lies before all segments. */
bool keep_segment_of(const struct keep *k, uint64_t ts_ns, uint64_t *number);
uint64_t keep_newest(const struct keep *k); /* number of the newest segment */
/* True if the segments from the last whole one on have an eighth of the byte limit. */
bool keep_newest_full(struct keep *k);
struct trace_tally *keep_tally(struct keep *k, uint64_t number);
/* Begin of the oldest segment, and totals of all segments before number `until`. */
void keep_sum(const struct keep *k, uint64_t until, struct trace_kept *out);
uint64_t keep_bytes(struct keep *k);
void keep_gone(struct keep *k, bool (*is_gone)(void *ctx, uint32_t pid), void *ctx, uint64_t ts_ns);

/*
 * Copies the payload; may be called from any thread. A block whose segment has been dropped is
 * ignored.
 */
void keep_add(struct keep *k, const struct keep_tag *tag, const struct trace_block_header *h,
	      const void *payload);
/*
 * Takes the blocks for a file of all segments before `until`. Blocks for the next file only are
 * removed.
 */
void keep_take(struct keep *k, uint64_t until, struct kept_list *out);
/* Appends the blocks and the end block; releases the list. 0 or -errno (printed). */
int kept_write(struct kept_list *list, struct append_file *f);

/* Writes a file from the blocks in memory in a thread of its own. Private to user/trace. */

struct dump;
struct keep;

/* Creates the file according to opt. 0 or -errno (printed). */
int dump_new(const char *path, const struct trace_writer_options *opt, struct dump **out);
/*
 * Takes the stored blocks of all segments before `until` and starts writing them. 0 or -errno
 * (printed). dump_poll() returns the same error.
 */
int dump_start(struct dump *d, struct keep *k, uint64_t until);
/* -EAGAIN while the file is being written; then the result of dump_wait(). */
int dump_poll(struct dump *d, uint64_t *file_bytes);
/*
 * Waits until the file is written, and frees d. 0 and the file's size, or -errno (printed): then
 * the file has been removed.
 */
int dump_wait(struct dump *d, uint64_t *file_bytes);

/* ---- trace_store.c ---- */

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
 * *file_bytes: the size of the file.
 */
int store_finish(struct store *s, uint64_t *file_bytes);

#endif
