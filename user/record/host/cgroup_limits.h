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
/*
 * Reads the throttling counters again that were read age_ns ago or earlier. Call it regularly: a
 * cgroup may vanish with its last process.
 */
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

/* ---- files of cgroups, and the kernel's counters of a limit's effects ---- */

/*
 * Returns the directory of a process's cgroup in the hierarchy of a controller ("cpu", "memory"),
 * from the contents of /proc/PID/mountinfo and /proc/PID/cgroup. The first root_bytes bytes are the
 * hierarchy's mount point. The caller frees it. NULL: there is none, or it is not visible here.
 */
char *cgroup_dir(const char *mountinfo, const char *cgroup, const char *controller,
		 size_t *root_bytes);

struct cpu_bandwidth {
	uint64_t quota_us, period_us; /* CPU time allowed per period */
};
/* Reads the limit of this cgroup itself. 0, or -ENOENT: no limit, or none that can be read. */
int cgroup_limit_read(const char *dir, struct cpu_bandwidth *out);

/* Counters since the cgroup was made. */
struct cpu_throttling {
	uint64_t periods;      /* periods in which it had something to run */
	uint64_t throttled;    /* periods in which it was throttled */
	uint64_t throttled_ns; /* summed over CPUs */
};
/* 0, or -errno if the cgroup is gone. */
int cgroup_throttling_read(const char *dir, struct cpu_throttling *out);

/*
 * Returns the memory limit of this cgroup in bytes; 0: it has no limit of its own, or none that can
 * be read.
 */
uint64_t cgroup_memory_limit_read(const char *dir);
/*
 * Reads how many processes of the cgroup the kernel has killed for lack of memory since the cgroup
 * was made. 0, or -ENOENT.
 */
int cgroup_oom_kills_read(const char *dir, uint64_t *kills);

#endif
