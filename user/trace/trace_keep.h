/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The newest part of a recording, kept in memory as blocks that are final but for their numbers in a file. It is a row of segments;
 * what lies before the first of them has been dropped. A segment that is whole begins with all that a reader must know of what was
 * before it, so that a file may begin there. Private to user/trace; its front is trace_flight.h.
 */
#ifndef POV_TRACE_KEEP_H
#define POV_TRACE_KEEP_H

#include "trace/trace_append.h"
#include "trace/trace_flight.h"

struct keep;

/* What a block is for. */
struct keep_tag {
	enum trace_place place;
	uint64_t segment; /* its number */
	uint32_t pid;	  /* meta objects: of the process it is about; 0: of none */
};

struct kept_block;

/* Blocks that go into one file, in its order. */
struct kept_list {
	struct kept_block **block; /* owned; each of them is held */
	size_t cnt;
};

struct keep *keep_new(uint64_t span_ns, uint64_t bytes);
void keep_free(struct keep *k);

/* Of one thread, which is the only one to change segments; drops what is older than is to be kept. */
void keep_segment_begin(struct keep *k, uint64_t begin_ns, bool whole);
/* The number of the segment of that time; false: it lies before all. */
bool keep_segment_of(const struct keep *k, uint64_t ts_ns, uint64_t *number);
uint64_t keep_newest(const struct keep *k); /* its number */
/* From the last whole one on there is an eighth of the bytes. */
bool keep_newest_full(struct keep *k);
struct trace_tally *keep_tally(struct keep *k, uint64_t number);
/* Begin of the oldest segment, and what is in all before number until. */
void keep_sum(const struct keep *k, uint64_t until, struct trace_kept *out);
uint64_t keep_bytes(struct keep *k);
void keep_gone(struct keep *k, bool (*is_gone)(void *ctx, uint32_t pid), void *ctx, uint64_t ts_ns);

/* Of any thread: takes a copy of the payload. What belongs to no segment any more is left out. */
void keep_add(struct keep *k, const struct keep_tag *tag, const struct trace_block_header *h,
	      const void *payload);
/* What a file of the segments before `until` is made of. What was for the next file only is in no other one. */
void keep_take(struct keep *k, uint64_t until, struct kept_list *out);
/* Appends them, and the end block; releases the list. 0 or -errno (printed). */
int kept_write(struct kept_list *list, struct append_file *f);

#endif
