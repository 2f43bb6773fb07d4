/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The kernel's trace events ("syscalls/sys_enter_read"), whether or not somebody has mounted tracefs here. */
#ifndef POV_TARGET_TRACE_EVENT_H
#define POV_TARGET_TRACE_EVENT_H

/* An event's number, or -errno: -ENOENT if the kernel has none of that name. */
int trace_event_number(const char *name);
/* A perf event of it, for a BPF program to be attached to, which then runs on all CPUs. The caller closes it; or -errno. */
int trace_event_open(const char *name);

#endif
