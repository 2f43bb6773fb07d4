/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An open trace: the index of its blocks, and the functions that load a block. A trace may also be
 * several files read as one (joined). Private to user/trace.
 */
#ifndef POV_TRACE_FILE_H
#define POV_TRACE_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <zstd.h>

#include "abi/config.h"
#include "trace/trace_format.h"
#include "trace/trace_join.h"
#include "trace/trace_read.h"

struct block_ref {
	uint64_t offset; /* of the header, in the file */
	struct trace_block_header h;
	bool missing_before;  /* blocks directly before this one are missing */
	bool bad;	      /* payload was found damaged; already counted */
	bool checked;	      /* read to its end; its malformed records are counted */
	bool may_have_losses; /* if checked: the block may contain records of losses */
};

struct trace {
	/* Several traces read as one: then there is no own file. NULL: a single file. Owned. */
	struct trace_joined *joined;
	int fd;
	char *path;
	uint64_t size; /* of the file when it was opened, bytes */
	struct trace_summary sum;
	struct block_ref *ref; /* META and EVENTS blocks in file order; owned */
	size_t nrefs;
	json_t **meta; /* owned references */
	size_t nmeta;
	uint64_t meta_bytes; /* upper bound of their memory */
	/* Buffers of trace_block_load(). */
	ZSTD_DCtx *dctx;
	uint8_t *stored, *raw;
	size_t stored_room, raw_room;
};

/*
 * Returns memory for `need` bytes. buf has *room bytes; its content is lost if that is too little.
 */
void *trace_scratch(void *buf, size_t *room, size_t need);
/*
 * Loads, checks and decompresses a block's payload: h.raw_len bytes at *raw, valid until the next
 * load. A damaged block is reported on stderr and counted once; then -EBADMSG. -errno (printed) if
 * reading fails.
 */
int trace_block_load(struct trace *t, struct block_ref *ref, const uint8_t **raw);
/* Marks and counts a block as damaged. Returns -EBADMSG. */
int trace_block_reject(struct trace *t, struct block_ref *ref, const char *why);

/* Maps one recording's CLOCK_MONOTONIC to that of the first one. */
struct join_clock {
	uint64_t from_ns, to_ns; /* one moment on both clocks */
	double drift;		 /* gain of the first clock per nanosecond of this one */
};

struct join_part {
	struct trace *trace; /* owned */
	const char *path;
	uint32_t host; /* number of the host */
	struct join_clock clock;
	struct trace_clock_fit fit; /* already applied to clock */
	uint32_t cpu_base, cpus;
	uint32_t rings, cpus_per_ring; /* as recorded */
	uint32_t lib_base;
	/* joined number by own number, JOIN_FUNCS entries; owned */
	uint16_t *func;
	uint16_t region[POV_REGIONS_MAX]; /* joined number by own number */
};
#define JOIN_FUNCS 65536

struct trace_joined {
	struct join_part *part; /* owned */
	size_t cnt;
	struct trace_summary sum;
	uint32_t cpus; /* over all parts */
};

/* ---- trace_join.c: trace_read.h for several traces ---- */

uint64_t join_time(const struct join_part *p, uint64_t ns);

/* Joined number of a process or thread; 0 means none. */
static inline uint32_t join_id(const struct join_part *p, uint32_t id)
{
	return id ? p->host << TRACE_HOST_SHIFT | trace_host_id(id) : 0;
}

/* Joined number of a file. */
static inline uint64_t join_ino(const struct join_part *p, uint64_t ino)
{
	return ino ^ (uint64_t)p->host << 48;
}

const struct trace_summary *joined_summary(struct trace_joined *j);
void joined_close(struct trace_joined *j);

struct join_merge;
int join_merge_open(struct trace_joined *j, const struct trace_merge_options *opt,
		    struct join_merge **out);
int join_merge_next(struct join_merge *m, const struct pov_hdr **rec);
void join_merge_close(struct join_merge *m);

/* ---- join_meta.c ---- */

/*
 * Numbers the CPUs, libraries and functions of the parts, and makes the joined meta objects: owned
 * references in *out. 0 or -EINVAL (printed).
 */
int join_metas(struct trace_joined *j, json_t ***out, size_t *cnt);

#endif
