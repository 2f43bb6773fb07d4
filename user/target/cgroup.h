/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * CPU time and memory limits that control groups (cgroups) set for a process, and the kernel's
 * counters of their effects.
 */
#ifndef POV_TARGET_CGROUP_H
#define POV_TARGET_CGROUP_H

#include <stdint.h>
#include <sys/types.h>

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
