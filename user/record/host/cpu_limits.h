/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The limits of CPU time that ranks are under, and how long the kernel says that these held them back in the recording. */
#ifndef POV_RECORD_HOST_CPU_LIMITS_H
#define POV_RECORD_HOST_CPU_LIMITS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/cgroup.h"

struct trace_writer;

struct cpu_limit {
	char *dir;	  /* of its group; owned */
	const char *name; /* the group's, in dir */
	struct cpu_bandwidth bandwidth;
	json_t *pids; /* the ranks in it, or in groups below */
	struct cpu_throttling first, last;
	uint64_t from_ns, to_ns; /* when these were read */
};

/* Zeroed to begin with. */
struct cpu_limits {
	struct cpu_limit *limit; /* owned */
	size_t cnt;
	char *mountinfo; /* of this process, read once; owned */
};

/* A rank begins, or is met. One that is gone, or under no limit, is not looked at again. */
void cpu_limits_add(struct cpu_limits *l, pid_t pid);
/* Reads accounts again that are so old: groups may vanish with their last process. */
void cpu_limits_read(struct cpu_limits *l, uint64_t now_ns, uint64_t age_ns);
/* One meta object "cpu_limit" each, with what was read last. */
void cpu_limits_write(const struct cpu_limits *l, struct trace_writer *w);
void cpu_limits_release(struct cpu_limits *l);

#endif
