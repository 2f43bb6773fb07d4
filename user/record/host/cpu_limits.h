/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * CPU time limits (cgroups) of ranks, and how long the kernel throttled the ranks during the
 * recording.
 */
#ifndef POV_RECORD_HOST_CPU_LIMITS_H
#define POV_RECORD_HOST_CPU_LIMITS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/cgroup.h"

struct trace_writer;

struct cpu_limit {
	char *dir;	  /* directory of the cgroup; owned */
	const char *name; /* the cgroup's name; points into dir */
	struct cpu_bandwidth bandwidth;
	json_t *pids; /* the ranks in this cgroup or in cgroups below */
	struct cpu_throttling first;
	struct cpu_throttling last;
	uint64_t from_ns; /* when first was read */
	uint64_t to_ns;	  /* when last was read */
};

/* Zero-initialised. */
struct cpu_limits {
	struct cpu_limit *limit; /* owned */
	size_t cnt;
	char *mountinfo; /* our own /proc/self/mountinfo, read once; owned */
};

/* Looks up the limits of a rank. No-op for a process that is gone or under no limit. */
void cpu_limits_add(struct cpu_limits *l, pid_t pid);
/*
 * Reads the throttling counters again if they are at least age_ns old. A cgroup may vanish with its
 * last process.
 */
void cpu_limits_read(struct cpu_limits *l, uint64_t now_ns, uint64_t age_ns);
/* Writes one meta object "cpu_limit" for each limit, with the counters read last. */
void cpu_limits_write(const struct cpu_limits *l, struct trace_writer *w);
void cpu_limits_release(struct cpu_limits *l);

#endif
