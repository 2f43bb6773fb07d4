/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads a .pov file: opens it by scanning the block headers (payloads are skipped), offers the meta
 * objects, and replays the records of all streams in time order within bounded memory.
 * Every record handed out is well-formed for its kind (record_well_formed): its struct
 * and the counts in it lie within hdr.size, so it can be read without further checks.
 * The order is exact whatever the disorder in the streams: every block header carries the smallest
 * time in it, so a record is released once no unread block can hold an earlier one.
 */
#ifndef POV_TRACE_READ_H
#define POV_TRACE_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace;
struct trace_merge;
struct pov_hdr;

struct trace_summary {
	uint64_t blocks, meta_blocks, event_blocks;
	uint64_t records; /* according to the block headers */
	uint64_t file_bytes;
	uint64_t first_ns, last_ns; /* over all event blocks */
	bool complete;		    /* the end block exists */
	uint64_t unknown_blocks;    /* intact, but of an unknown type: skipped */
	uint64_t bad_blocks;	    /* damaged: left out; payloads are checked when merged */
	uint64_t lost_tail_bytes;   /* after the last complete block */
	/* left out of merges so far: size wrong for its kind, or a kind that no file has */
	uint64_t bad_records;
	bool holes; /* blocks are missing including their headers */
};

/*
 * Opens and scans a file. Damage after the first block is no error: intact blocks are offered, the
 * rest is counted in the summary and reported on stderr. -EINVAL (printed) if it is no povtrace
 * file or has a newer major version; -errno otherwise.
 */
int trace_open(const char *path, struct trace **out);
void trace_close(struct trace *t);

const struct trace_summary *trace_get_summary(const struct trace *t);

/* All meta objects in file order (borrowed; valid until trace_close). */
size_t trace_meta_count(const struct trace *t);
json_t *trace_meta_get(const struct trace *t, size_t i);
/* First meta object of a type, or NULL. */
json_t *trace_meta_find(const struct trace *t, const char *type);

struct trace_merge_options {
	bool tasks_only; /* only the identity stream: cheap, to learn identities */
	/*
	 * Also report where scheduler records are missing because they were lost or lay in damaged
	 * blocks. POV_KIND_LOSS_BEGIN comes before the first record that is not earlier than the
	 * loss, POV_KIND_LOSS_END after the last that is not later. They carry the ring (one that
	 * does not exist means all rings) and since_ns, which lies before the begin's own time if
	 * the loss was noticed late. Losses may overlap. A loss without LOSS_END lasts to the end
	 * of the trace. Every merge of the trace reports the same losses.
	 */
	bool losses;
};

int trace_merge_open(struct trace *t, const struct trace_merge_options *opt,
		     struct trace_merge **out);
/*
 * 1 and *rec (valid until the next call), 0 at the end, -errno (printed). At equal times, the lower
 * stream comes first, then file order.
 */
int trace_merge_next(struct trace_merge *m, const struct pov_hdr **rec);
void trace_merge_close(struct trace_merge *m);

/*
 * Meta objects "probes": probes inserted into a library after its meta object "library" was
 * written. Readers of a library want all of them.
 */

/* Adds an object "probes" to the "library" that it refers to. */
void trace_probes_fold(json_t *library, const json_t *probes);

#endif
