/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes a .pov file: append-only, checksummed, zstd-compressed blocks (kmod-docs/TRACE_FORMAT.md).
 * trace_writer_add() delta-codes a record into the open block of its stream and returns. One
 * background thread compresses and writes, so the disk never delays the ring consumer.
 */
#ifndef POV_TRACE_WRITE_H
#define POV_TRACE_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_writer;
struct pov_hdr;
struct person;

/*
 * Streams: one per ring (0 .. rings, the last being the rescue ring), and one for identity records.
 */
#define TRACE_STREAM_TASKS 0xfffe

struct trace_writer_options {
	uint64_t max_bytes; /* stop accepting events before the file exceeds this; 0 = no limit */
	const struct person *as; /* creator and owner of the file; NULL: the caller */
	bool keep_old;		 /* rename a former file with content to FILE.old (printed) */
	/* Not 0: store only the newest part, in memory (see the end of this file). */
	uint64_t keep_ns, keep_bytes;
	/*
	 * > 0: an open, empty file to write to. The caller keeps it open; path is its name. as and
	 * keep_old are ignored.
	 */
	int fd;
};

/* Number of records, and of the kinds that users ask for. */
/* Tallies are added up by table_row_add(). */
struct trace_tally {
	uint64_t records, calls, spins, polls /* inside spins */, counted /* calls */, switches;
};

struct trace_writer_stats {
	struct trace_tally accepted; /* by trace_writer_add() */
	struct trace_tally lost;     /* accepted, but their block could not be written */
	uint64_t file_bytes;	     /* written or stored so far, all blocks */
	/* number of times trace_writer_add() had to wait for the writing thread */
	uint64_t waits;
};

/*
 * Creates path (a regular file, mode 0600, empty) unless opt->fd is set. opt->as must outlive the
 * writer. 0 or -errno (printed).
 */
int trace_writer_open(const char *path, const struct trace_writer_options *opt,
		      struct trace_writer **out);

/*
 * Adds one record to a stream. Must always be called from one thread, the one that also calls meta,
 * flush and finish. Never allocates after a stream's first record. Returns 0; or the sticky -errno
 * of the background thread (-ENOSPC, -EDQUOT, -EIO …); or -EFBIG once max_bytes is reached (not
 * printed: every record accepted until then is still written); or -EINVAL if the record's size is
 * invalid.
 */
int trace_writer_add(struct trace_writer *w, unsigned int stream, const struct pov_hdr *rec);

/*
 * Writes a meta block and releases it: a JSON object with at least "type" and, if it belongs to a
 * time, "ts_ns" (kmod-docs/TRACE_META.md). One about a process does not apply to later processes
 * with the same number. Meta blocks go to the writing thread at once, in order. Part of max_bytes
 * is reserved for those that come after events have stopped. 0 or -errno.
 */
int trace_writer_meta(struct trace_writer *w, json_t *meta);
/* The same for a text. pid: the process that it is about, or 0. */
int trace_writer_meta_text(struct trace_writer *w, const char *json, uint32_t pid);

/*
 * Hands the blocks begun at or before this moment (CLOCK_MONOTONIC) to the writing thread, so that
 * a crash loses little. UINT64_MAX = all.
 */
void trace_writer_flush(struct trace_writer *w, uint64_t begun_until_ns);

/*
 * Hands over everything and waits until it is written or lost. Afterwards the stats match the file.
 */
void trace_writer_drain(struct trace_writer *w);

void trace_writer_get_stats(const struct trace_writer *w, struct trace_writer_stats *out);

/*
 * Flushes everything, writes the end block, closes, frees w. 0 or the first -errno that occurred
 * (printed once). Having stopped at max_bytes is no error here: that file is complete. *file_bytes:
 * the file's size, whatever name it has by now; may be NULL.
 */
int trace_writer_finish(struct trace_writer *w, uint64_t *file_bytes);

/* For an empty recording: removes the file; a former one gets its name back. Frees w. */
void trace_writer_undo(struct trace_writer *w);

/* ---- the newest part only (trace_keep.c) ---- */

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
/* What a file would contain if it were written now. ended: without the current segment. */
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
