/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One uprobe as a perf event with a program linked to it. Not by libbpf's own function, which reads three files
 * for each: 40 s instead of 2 s for 800 of them on an emulated machine.
 */
#ifndef POV_TARGET_PROBES_PERF_PROBE_H
#define POV_TARGET_PROBES_PERF_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_probe {
	int event_fd, link_fd;
	uint64_t offset,
		cookie; /* of the one site that it is at if that is alone (links.h); else 0 */
};

/* A zeroed struct is empty. */
struct perf_probes {
	struct perf_probe *v; /* owned; the descriptors are not closed with it */
	size_t cnt, cap;
};

/* How the kernel calls its uprobes. */
struct perf_probe_kind {
	uint32_t type;	  /* of perf events */
	uint64_t ret_bit; /* in the event's config: at return */
};

/* 0 or -errno: no such events. */
int perf_probe_kind_read(struct perf_probe_kind *out);
/*
 * At an offset in a file, in one process (all its threads, whatever CPU they run on), or in all if pid is 0.
 * 0 or -errno.
 */
int perf_probe_attach(const struct perf_probe_kind *kind, int prog_fd, bool ret, pid_t pid,
		      const char *path, uint64_t offset, uint64_t cookie, struct perf_probe *out);
/* The last to hold it waits for grace periods: about 0.1 s. */
void perf_probe_close(const struct perf_probe *probe);
void perf_probes_add(struct perf_probes *probes, const struct perf_probe *probe);

#endif
