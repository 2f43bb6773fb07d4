/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Several recordings of one job, each of another host, read as one trace. What a host's kernel numbers (processes, threads,
 * CPUs, files) gets the host's number as well, libraries and functions get new numbers, and all times are those of the first
 * recording's CLOCK_MONOTONIC. So whoever reads the trace need not know of hosts, but for showing them.
 *
 * The clocks are related by CLOCK_REALTIME, which hosts keep in step as well as they can (NTP, PTP), as it was at both ends of
 * each recording: offset, and drift against the first one's. What the user knows better comes on top, or what the messages
 * between the hosts tell (analysis/host_clocks.h).
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
	bool offset_given; /* by the user: nobody knows better */
	bool one_run; /* the user knows that it is of one run with the others: that is not checked */
	bool temporary; /* path says nothing to whoever reads it: the recording is not kept */
};

/* As a person is told of it. */
static inline const char *trace_source_name(const struct trace_source *s)
{
	return s->temporary ? "(not kept)" : s->path;
}

#define TRACE_HOSTS_MAX 400 /* numbers above theirs are the timeline's own (timeline/timeline.h) */

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

/* What a host's times were related by to those of the first one. */
enum trace_clock_by {
	TRACE_CLOCK_TIME_OF_DAY = 0,
	TRACE_CLOCK_GIVEN = 1, /* the same, and by the user */
	TRACE_CLOCK_MESSAGES = 2,
};

/* How a host's times are to be corrected once they have been related by the time of day. */
struct trace_clock_fit {
	enum trace_clock_by by; /* apart_ns, drift and uncertainty_ns are 0 but of MESSAGES */
	uint32_t host;	   /* whose times they are related to: its own number if no messages tell */
	uint64_t messages; /* that it follows from */
	uint64_t at_ns;
	double apart_ns,
		drift; /* what is to be added: at at_ns, and for each nanosecond from then on */
	double uncertainty_ns; /* of all of its times */
	double violated_ns; /* messages were there, but any line would have one arrive so long before it was sent; or 0 */
};

/*
 * Opens them; of a single one without offset that is trace_open. 0 or -errno (printed); -EINVAL if they do not fit together:
 * other scheduler events were recorded, no clock relates them, or two of one host are not of one run. The trace then has a meta object "hosts": rows [{path,
 * hostname, kernel, machine, cpus, cpu_base (what is added to its CPU numbers), start_ns (when its recording began, in this trace's time), offset_ns, drift_ppb (what
 * was added to its times when it began, and from then on), clock_by, clock_host, clock_messages, clock_uncertainty_ns,
 * clock_violated_ns (struct trace_clock_fit)}].
 */
int trace_join_open(const struct trace_source *source, size_t cnt, struct trace **out);
/*
 * Corrects the times of several that were opened: a fit for each. It may be called again, with fits of
 * the corrected times; a host whose new fit is not by messages keeps its last one. Meta objects that
 * somebody has borrowed are gone then. 0 or -errno (printed).
 */
int trace_join_correct(struct trace *t, const struct trace_clock_fit *fit);

#endif
