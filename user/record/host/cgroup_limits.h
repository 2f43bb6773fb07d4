/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Limits that cgroups set for ranks, and what they did during the recording: how long the kernel
 * throttled CPU time, and how many processes it killed for lack of memory.
 */
#ifndef POV_RECORD_HOST_CGROUP_LIMITS_H
#define POV_RECORD_HOST_CGROUP_LIMITS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct trace_writer;
struct cgroup_watch;

/* Cgroups of one controller. */
struct cgroup_watches {
	struct cgroup_watch *watch; /* owned */
	size_t cnt;
};

/* Zero-initialised. */
struct cgroup_limits {
	struct cgroup_watches cpu, memory;
	char *mountinfo; /* our own /proc/self/mountinfo, read once; owned */
};

/* Looks up the cgroups of a rank. No-op for a process that is gone. */
void cgroup_limits_add(struct cgroup_limits *l, pid_t pid);
/* Reads throttling again where it is at least age_ns old. A cgroup may go with its last process. */
void cgroup_limits_read_cpu(struct cgroup_limits *l, uint64_t now_ns, uint64_t age_ns);
/* Reads the counts of kills again. */
void cgroup_limits_read_memory(struct cgroup_limits *l, uint64_t now_ns);
/*
 * Writes what was read last: a meta object "cpu_limit" for each cgroup with a limit of CPU time,
 * and "memory_limit" for each cgroup in which a process was killed.
 */
void cgroup_limits_write(const struct cgroup_limits *l, struct trace_writer *w);
void cgroup_limits_release(struct cgroup_limits *l);
/*
 * Returns the bytes that this process may use: the host's available memory, at most the limits of
 * its own cgroups. 0: unknown.
 */
uint64_t memory_available(void);

#endif
