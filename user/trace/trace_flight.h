/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A writer that stores the newest part of its records in memory (options keep_ns, keep_bytes) and
 * writes it to files on request: trace_writer_dump() may be called any number of times, each time
 * for a new file, and trace_writer_finish() writes the last one.
 *
 * When it begins, and every quarter of the span or so:
 *
 *	trace_writer_segment(w, now_ns, true);
 *	trace_writer_place(w, TRACE_PLACE_BEGIN);
 *	… all that a reader must know of the time before now_ns
 *	trace_writer_place(w, TRACE_PLACE_FILE);
 *
 * For a file: trace_writer_dump_open(), trace_writer_segment(w, end_ns, false), the data for its
 * beginning (HEAD) and its end (TAIL), and trace_writer_dump(). In other writers, none of these
 * functions does anything.
 */
#ifndef POV_TRACE_FLIGHT_H
#define POV_TRACE_FLIGHT_H

#include "trace/trace_write.h"

/* Destination of everything added from now on. */
enum trace_place {
	/* records: the segment of their time; meta objects: all files */
	TRACE_PLACE_FILE = 0,
	TRACE_PLACE_BEGIN = 1, /* files that begin with this segment */
	TRACE_PLACE_HEAD = 2,  /* only the next file, at its beginning */
	TRACE_PLACE_TAIL = 3,  /* only the next file, at its end */
};

/* Content of a file if it were written now. */
struct trace_kept {
	uint64_t begin_ns; /* of its first segment */
	struct trace_tally tally;
};

/*
 * Ends the current segment; later records with times before now_ns still belong to it. whole: a
 * file may begin with the new segment. Drops old data beyond the requested span or size, in whole
 * segments.
 */
void trace_writer_segment(struct trace_writer *w, uint64_t now_ns, bool whole);
void trace_writer_place(struct trace_writer *w, enum trace_place place);
/*
 * True if the current segment has reached an eighth of keep_bytes, so that it is time for the next
 * one.
 */
bool trace_writer_segment_full(struct trace_writer *w);
/* Omits meta objects of ended processes from files that begin after ts_ns. is_gone() decides. */
void trace_writer_gone(struct trace_writer *w, bool (*is_gone)(void *ctx, uint32_t pid), void *ctx,
		       uint64_t ts_ns);
/* ended: without the current segment */
void trace_writer_kept(struct trace_writer *w, bool ended, struct trace_kept *out);

/* Creates the next file like trace_writer_open(). Only one at a time. 0 or -errno (printed). */
int trace_writer_dump_open(struct trace_writer *w, const char *path,
			   const struct trace_writer_options *opt);
/* Starts a thread that writes everything except the current segment to the file. */
void trace_writer_dump(struct trace_writer *w);
/*
 * -EAGAIN while the file is being written (unless wait). Then 0 and its size, or -errno (printed;
 * the file has been removed).
 */
int trace_writer_dumped(struct trace_writer *w, bool wait, uint64_t *file_bytes);

#endif
