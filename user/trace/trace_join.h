/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads several recordings of one job, each from another host, as one trace. Numbers of a host's
 * kernel (processes, threads, CPUs, files) also get the host's number. Libraries and functions get
 * new numbers. All times become times of the first recording's CLOCK_MONOTONIC. Readers of the
 * trace need not know of hosts, except to display them.
 * The clocks are related by CLOCK_REALTIME at both ends of each recording, which gives offset and
 * drift against the first one's. Hosts keep CLOCK_REALTIME in step as well as they can (NTP, PTP).
 * An offset from the user, or a fit from the messages between hosts, comes on top
 * (analysis/host_clocks.h).
 */
#ifndef POV_TRACE_JOIN_H
#define POV_TRACE_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace;

struct trace_source {
	const char *path;
	int64_t offset_ns; /* added to its times after the clocks have been related */
	bool offset_given; /* the user gave the offset: it overrides everything else */
	bool one_run;	   /* the user vouches that it belongs to the same run: no check */
	bool temporary;	   /* a temporary file: its path means nothing to the user */
};

/* The name to show to users. */
static inline const char *trace_source_name(const struct trace_source *s)
{
	return s->temporary ? "(no file kept)" : s->path;
}

/*
 * Begins to show the progress of reading these recordings, with this many quick passes and other
 * passes (progress_begin()). Adds the quick pass that relates the clocks of several recordings. The
 * first path is borrowed until progress_end().
 */
void trace_sources_progress(const struct trace_source *source, size_t cnt, unsigned int quick,
			    unsigned int passes);

#define TRACE_HOSTS_MAX 400 /* higher numbers are used by the timeline (timeline/timeline.h) */

/*
 * Process and thread numbers: the host's number above the kernel's, which are below 1 <<
 * TRACE_HOST_SHIFT.
 */
#define TRACE_HOST_SHIFT 22
static inline uint32_t trace_host_of(uint32_t id)
{
	return id >> TRACE_HOST_SHIFT;
}
static inline uint32_t trace_host_id(uint32_t id)
{
	return id & ((1u << TRACE_HOST_SHIFT) - 1);
}

/* How a host's times were related to those of the first host. */
enum trace_clock_by {
	TRACE_CLOCK_TIME_OF_DAY = 0,
	TRACE_CLOCK_GIVEN = 1, /* the same, corrected by the user */
	TRACE_CLOCK_MESSAGES = 2,
};

/* Correction of a host's times after they have been related by the time of day. */
struct trace_clock_fit {
	/* apart_ns, drift and uncertainty_ns are 0 unless this is MESSAGES */
	enum trace_clock_by by;
	uint32_t host;	   /* reference host; its own number if no messages relate it */
	uint64_t messages; /* number of messages that the fit is based on */
	uint64_t at_ns;
	/* Correction to add: apart_ns at at_ns, and drift for each nanosecond after that. */
	double apart_ns, drift;
	double uncertainty_ns; /* over all of its times */
	/*
	 * Not 0: no line fits the messages. With the best one, a message still arrives this long
	 * before it was sent.
	 */
	double violated_ns;
};

/*
 * Opens the recordings; for a single one without offset, the same as trace_open(). 0 or -errno
 * (printed). -EINVAL if they do not fit together: different scheduler events were recorded, no
 * clock relates them, or two from one host belong to different runs.
 * The trace then has a meta object "hosts" with rows
 * - path, hostname, kernel, machine, cpus
 * - cpu_base: added to its CPU numbers
 * - start_ns: begin of its recording, in this trace's time
 * - offset_ns, drift_ppb: added to its times at its begin, and from then on
 * - clock_by, clock_host, clock_messages, clock_uncertainty_ns, clock_violated_ns: struct
 *   trace_clock_fit
 */
int trace_join_open(const struct trace_source *source, size_t cnt, struct trace **out);
/*
 * Corrects the times of a joined trace with one fit per host. May be called again with fits of the
 * corrected times; a host keeps its last fit unless the new one is by messages. Borrowed meta
 * objects become invalid. 0 or -errno (printed).
 */
int trace_join_correct(struct trace *t, const struct trace_clock_fit *fit);

#endif
