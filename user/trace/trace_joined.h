/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by trace_join.c (opening), join_meta.c (what the recordings say of themselves), join_record.c (records), and the
 * readers of single files, which hand over to them. Private to user/trace.
 */
#ifndef POV_TRACE_JOINED_H
#define POV_TRACE_JOINED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi/config.h"
#include "trace/trace_join.h"
#include "trace/trace_read.h"

/* From one recording's CLOCK_MONOTONIC to the first one's. */
struct join_clock {
	uint64_t from_ns, to_ns; /* one moment in both */
	double drift;		 /* what the first one's gains in a nanosecond of this one */
};

struct join_part {
	struct trace *trace; /* owned */
	const char *path;
	uint32_t host; /* its number */
	struct join_clock clock;
	struct trace_clock_fit fit; /* is in it */
	uint32_t cpu_base, cpus;
	uint32_t rings, cpus_per_ring; /* as it was recorded */
	uint32_t lib_base;
	uint16_t *func;			  /* by its own number, JOIN_FUNCS of them; owned */
	uint16_t region[POV_REGIONS_MAX]; /* the same */
};
#define JOIN_FUNCS 65536

struct trace_joined {
	struct join_part *part; /* owned */
	size_t cnt;
	struct trace_summary sum;
	uint32_t cpus; /* of all */
};

uint64_t join_time(const struct join_part *p, uint64_t ns);

/* The whole's number of a process or thread, 0 being none, … */
static inline uint32_t join_id(const struct join_part *p, uint32_t id)
{
	return id ? p->host << TRACE_HOST_SHIFT | trace_host_id(id) : 0;
}

/* … and of a file. */
static inline uint64_t join_ino(const struct join_part *p, uint64_t ino)
{
	return ino ^ (uint64_t)p->host << 48;
}

/* ---- trace_join.c: what trace_read.h says, of several traces ---- */

const struct trace_summary *joined_summary(struct trace_joined *j);
void joined_close(struct trace_joined *j);

/* ---- join_meta.c ---- */

/*
 * Numbers the parts' CPUs, libraries and functions, and makes the meta objects of the whole: owned references in *out.
 * 0 or -EINVAL (printed).
 */
int join_metas(struct trace_joined *j, json_t ***out, size_t *cnt);

/* ---- join_runs.c ---- */

/* Whether recordings of one host are of one run, by their times and jobs: 0 or -EINVAL (printed). */
int join_runs_check(const struct trace_joined *j);

/* ---- join_record.c ---- */

struct join_merge;
int join_merge_open(struct trace_joined *j, const struct trace_merge_options *opt,
		    struct join_merge **out);
int join_merge_next(struct join_merge *m, const struct pov_hdr **rec);
void join_merge_close(struct join_merge *m);

#endif
