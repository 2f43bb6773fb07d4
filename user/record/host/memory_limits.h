/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The memory cgroups of ranks, and how many of their processes the kernel killed for lack of memory
 * during the recording.
 */
#ifndef POV_RECORD_HOST_MEMORY_LIMITS_H
#define POV_RECORD_HOST_MEMORY_LIMITS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct trace_writer;

struct memory_limit {
	char *dir;	      /* directory of the cgroup; owned */
	const char *name;     /* the cgroup's name; points into dir */
	uint64_t bytes;	      /* the smallest limit of this cgroup and of those above; 0: none */
	json_t *pids;	      /* the ranks in this cgroup; owned */
	uint64_t first_kills; /* count at from_ns */
	uint64_t kills;	      /* count at to_ns */
	uint64_t from_ns, to_ns;
};

/* Zero-initialised. */
struct memory_limits {
	struct memory_limit *limit; /* owned */
	size_t cnt;
	char *mountinfo; /* our own /proc/self/mountinfo, read once; owned */
};

/* Looks up the cgroup of a rank. No-op for a process that is gone. */
void memory_limits_add(struct memory_limits *l, pid_t pid);
/* Reads the counts of kills again. */
void memory_limits_read(struct memory_limits *l, uint64_t now_ns);
/* Writes one meta object "memory_limit" for each cgroup in which a process was killed. */
void memory_limits_write(const struct memory_limits *l, struct trace_writer *w);
void memory_limits_release(struct memory_limits *l);
/*
 * Returns the bytes that this process may use: the host's available memory, at most the limits of
 * its own cgroups. 0: unknown.
 */
uint64_t memory_available(void);

#endif
