/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by trace_join.c (opening, records), join_meta.c (meta objects), and the readers of single
 * files, which pass joined traces on to them. Private to user/trace.
 */
#ifndef POV_TRACE_JOINED_H
#define POV_TRACE_JOINED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi/config.h"
#include "trace/trace_join.h"
#include "trace/trace_read.h"

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

/* ---- trace_join.c: trace_read.h for several traces ---- */

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
