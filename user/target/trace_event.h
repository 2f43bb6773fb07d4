/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The kernel's trace events ("syscalls/sys_enter_read"), whether or not tracefs is mounted here. */
#ifndef POV_TARGET_TRACE_EVENT_H
#define POV_TARGET_TRACE_EVENT_H

/* Returns an event's number, or -errno; -ENOENT: the kernel has no such event. */
int trace_event_number(const char *name);
/*
 * Opens a perf event for it, to which a BPF program is attached that then runs on all CPUs. The
 * caller closes it. Or -errno.
 */
int trace_event_open(const char *name);

#endif
