/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Limits of CPU time that hold for a process by its control groups (cgroups), and the kernel's account of what they did. */
#ifndef POV_ATTACH_CGROUP_H
#define POV_ATTACH_CGROUP_H

#include <stdint.h>
#include <sys/types.h>

/*
 * A group's directory in the hierarchy that has the cpu controller, as both files of /proc/PID have it; its first root_bytes bytes are
 * where that hierarchy is mounted. The caller frees dir. NULL: there is none, or it is not to be seen from here.
 */
char *cgroup_cpu_dir(const char *mountinfo, const char *cgroup, size_t *root_bytes);

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

#endif
