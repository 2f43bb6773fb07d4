/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Limits of CPU time and memory that hold for a process by its control groups (cgroups), and the kernel's account of what they did. */
#ifndef POV_TARGET_CGROUP_H
#define POV_TARGET_CGROUP_H

#include <stdint.h>
#include <sys/types.h>

/*
 * A group's directory in the hierarchy that has a controller ("cpu", "memory"), as both files of /proc/PID have it; its first root_bytes
 * bytes are where that hierarchy is mounted. The caller frees dir. NULL: there is none, or it is not to be seen from here.
 */
char *cgroup_dir(const char *mountinfo, const char *cgroup, const char *controller,
		 size_t *root_bytes);

struct cpu_bandwidth {
	uint64_t quota_us, period_us; /* so much CPU time in each period */
};
/* Of this group itself. 0, or -ENOENT: no limit, or none that can be read. */
int cgroup_limit_read(const char *dir, struct cpu_bandwidth *out);

/* Since the group was made. */
struct cpu_throttling {
	uint64_t periods,
		throttled; /* those in which it had something to run; those in which that was held back */
	uint64_t throttled_ns; /* added up over CPUs */
};
/* 0, or -errno: the group is gone. */
int cgroup_throttling_read(const char *dir, struct cpu_throttling *out);

/* Bytes of memory that this group may use; 0: it has no limit of its own, or none that can be read. */
uint64_t cgroup_memory_limit_read(const char *dir);
/* How many processes of the group the kernel has killed for lack of memory since the group was made. 0, or -ENOENT. */
int cgroup_oom_kills_read(const char *dir, uint64_t *kills);

#endif
