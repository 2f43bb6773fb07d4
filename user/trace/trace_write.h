/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes a .pov file: append-only, checksummed, zstd-compressed blocks (kmod-docs/TRACE_FORMAT.md).
 * trace_writer_add() delta-codes a record into its stream's open block and returns; compressing and
 * writing happen in one background thread, so the ring consumer is never held up by the disk.
 */
#ifndef POV_TRACE_WRITE_H
#define POV_TRACE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_writer;
struct pov_hdr;
struct person;

/*
 * Streams: one per ring (0 … rings, the last being the rescue ring), and one for identity records.
 */
#define TRACE_STREAM_TASKS 0xfffe

struct trace_writer_options {
	uint64_t max_bytes; /* stop accepting events once the file would exceed this; 0 = no limit */
	const struct person *as; /* who creates the file, and owns it; NULL: the caller */
	bool keep_old; /* a former file with something in it is renamed to FILE.old (said) */
	uint64_t keep_ns,
		keep_bytes; /* not 0: keep the newest part only, in memory (trace_flight.h) */
	/* > 0: open already, empty, and what is written to; it stays the caller's, path is what it is called, as and keep_old do not count */
	int fd;
};

/* Records, and of these what people ask for. */
struct trace_tally {
	uint64_t records, calls, spins, polls /* inside spins */, counted /* calls */, switches;
};

void trace_tally_sum(struct trace_tally *to, const struct trace_tally *t);

struct trace_writer_stats {
	struct trace_tally accepted; /* by trace_writer_add */
	struct trace_tally lost;     /* accepted, but their block could not be written */
	uint64_t file_bytes;	     /* written so far, all blocks; or kept */
	uint64_t waits;		     /* times trace_writer_add had to wait for the writing thread */
};

/* Creates path (a regular file, mode 0600, empty), unless there is opt->fd. opt->as outlives the writer. 0 or -errno (printed). */
int trace_writer_open(const char *path, const struct trace_writer_options *opt,
		      struct trace_writer **out);

/*
 * Adds one record to a stream. Called from one thread only, the one that also calls meta, flush
 * and finish; never allocates after a stream's first record. Returns 0, or the sticky -errno of
 * the background thread (-ENOSPC, -EDQUOT, -EIO …), or -EFBIG once max_bytes is reached (not
 * printed: every record accepted until then is still written), or -EINVAL if the record's size is
 * none.
 */
int trace_writer_add(struct trace_writer *w, unsigned int stream, const struct pov_hdr *rec);

/*
 * Writes a meta block: one JSON object as text with at least "type" and, where it belongs to a
 * time, "ts_ns". Meta blocks are handed to the writing thread at once, in order. Part of max_bytes
 * is kept for those that come after events stopped. 0 or -errno.
 */
int trace_writer_meta(struct trace_writer *w, const char *json);
/* The same of one that is about a process, and says nothing of others that have its number later. */
int trace_writer_meta_of(struct trace_writer *w, const char *json, uint32_t pid);

/*
 * Hands the blocks begun at or before this moment (CLOCK_MONOTONIC) to the writing thread, so that
 * a crash loses little. UINT64_MAX = all.
 */
void trace_writer_flush(struct trace_writer *w, uint64_t begun_until_ns);

/* Hands over all and waits until it is written or lost: from then on the stats tell what is in the file. */
void trace_writer_drain(struct trace_writer *w);

void trace_writer_get_stats(const struct trace_writer *w, struct trace_writer_stats *out);

/*
 * Flushes everything, writes the end block, closes. 0 or the first -errno met (printed once).
 * Having stopped at max_bytes is no error here: that file is complete. Frees w.
 */
int trace_writer_finish(struct trace_writer *w);

/* There was nothing to record: removes the file, and a former one gets its name back. Frees w. */
void trace_writer_undo(struct trace_writer *w);

#endif
