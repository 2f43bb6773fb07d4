/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Several recordings of one job, each of another host, read as one trace. What a host's kernel numbers (processes, threads,
 * CPUs, files) gets the host's number as well, libraries and functions get new numbers, and all times are those of the first
 * recording's CLOCK_MONOTONIC. So whoever reads the trace need not know of hosts, but for showing them.
 *
 * The clocks are related by CLOCK_REALTIME, which hosts keep in step as well as they can (NTP, PTP), as it was at both ends of
 * each recording: offset, and drift against the first one's. What the user knows better comes on top.
 */
#ifndef POV_TRACE_JOIN_H
#define POV_TRACE_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace;

struct trace_source {
	const char *path;
	int64_t offset_ns; /* to be added to its times, after the clocks have been related */
	bool temporary;	   /* path says nothing to whoever reads it: the recording is not kept */
};

/* As a person is told of it. */
static inline const char *trace_source_name(const struct trace_source *s)
{
	return s->temporary ? "(not kept)" : s->path;
}

#define TRACE_HOSTS_MAX 400 /* numbers above theirs are the timeline's own (writer/timeline.h) */

/* Process and thread numbers: the host's number above the kernel's own, which are below 1 << TRACE_HOST_SHIFT. */
#define TRACE_HOST_SHIFT 22
static inline uint32_t trace_host_of(uint32_t id)
{
	return id >> TRACE_HOST_SHIFT;
}
static inline uint32_t trace_host_id(uint32_t id)
{
	return id & ((1u << TRACE_HOST_SHIFT) - 1);
}

/*
 * Opens them; of a single one without offset that is trace_open. 0 or -errno (printed); -EINVAL if they do not fit together:
 * other scheduler events were recorded, or no clock relates them. The trace then has a meta object "hosts": rows [{path,
 * hostname, kernel, machine, cpus, cpu_base (what is added to its CPU numbers), start_ns (when its recording began, in this trace's time), offset_ns, drift_ppb (what
 * was added to its times when it began, and from then on)}].
 */
int trace_join_open(const struct trace_source *source, size_t cnt, struct trace **out);

#endif
