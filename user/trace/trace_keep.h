/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The newest part of a recording, stored in memory as blocks that are final except for their
 * numbers in a file. It is a sequence of segments; everything before the first one has been
 * dropped. A whole segment begins with all that a reader must know of the past, so that a file may
 * begin there. Private to user/trace; the public interface is trace_flight.h.
 */
#ifndef POV_TRACE_KEEP_H
#define POV_TRACE_KEEP_H

#include <stdint.h>

#include "trace/trace_append.h"
#include "trace/trace_flight.h"
#include "trace/trace_write.h"

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

#endif
