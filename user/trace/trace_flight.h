/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A writer that keeps the newest part of what is added in memory (options keep_ns, keep_bytes), and writes it when asked: as often
 * as one likes by trace_writer_dump, each time into a file of its own, and by trace_writer_finish.
 *
 *	trace_writer_segment(w, now_ns, true);	every quarter of the span or so, and when it begins
 *	trace_writer_place(w, TRACE_PLACE_BEGIN);
 *	… what a reader must know of what was before now_ns
 *	trace_writer_place(w, TRACE_PLACE_FILE);
 *
 * and for a file: trace_writer_dump_open, trace_writer_segment(w, end_ns, false), what is for its beginning (HEAD) and for its end
 * (TAIL), and trace_writer_dump. In other writers nothing of this does anything.
 */
#ifndef POV_TRACE_FLIGHT_H
#define POV_TRACE_FLIGHT_H

#include "trace/trace_write.h"

/* Where what is added from now on belongs. */
enum trace_place {
	TRACE_PLACE_FILE =
		0, /* records: to the segment of their time; meta objects: to all files */
	TRACE_PLACE_BEGIN = 1, /* to files that begin with this segment */
	TRACE_PLACE_HEAD = 2,  /* to the beginning … */
	TRACE_PLACE_TAIL = 3,  /* … and the end of the next file, and to no other */
};

/* What a file written now would have. */
struct trace_kept {
	uint64_t begin_ns; /* of its first segment */
	struct trace_tally tally;
};

/*
 * Ends the segment under way: later records that are from before now_ns still come to it. whole: files may begin here. What is
 * older than is to be kept, as far as whole segments allow, is dropped.
 */
void trace_writer_segment(struct trace_writer *w, uint64_t now_ns, bool whole);
void trace_writer_place(struct trace_writer *w, enum trace_place place);
/* Whether the segment under way has so much that it is time for the next one: an eighth of keep_bytes. */
bool trace_writer_segment_full(struct trace_writer *w);
/* Meta objects of processes that is_gone says are no more are left out of files that begin later than ts_ns. */
void trace_writer_gone(struct trace_writer *w, bool (*is_gone)(void *ctx, uint32_t pid), void *ctx,
		       uint64_t ts_ns);
/* ended: without the segment under way. */
void trace_writer_kept(struct trace_writer *w, bool ended, struct trace_kept *out);

/* Creates the next file, as trace_writer_open does. One at a time. 0 or -errno (printed). */
int trace_writer_dump_open(struct trace_writer *w, const char *path,
			   const struct trace_writer_options *opt);
/* Has all but the segment under way written to it by a thread of its own. */
void trace_writer_dump(struct trace_writer *w);
/* -EAGAIN while it is written (unless wait); then 0 and the file's size, or -errno (printed; there is no file then). */
int trace_writer_dumped(struct trace_writer *w, bool wait, uint64_t *file_bytes);

#endif
