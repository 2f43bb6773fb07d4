/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sums over a trace: records by kind, calls, polls, losses, and when it was recorded. No
 * interpretation.
 */
#ifndef POV_TRACE_TOTALS_H
#define POV_TRACE_TOTALS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi/event.h"

struct trace;

struct trace_totals {
	uint64_t records, raw_bytes;
	uint64_t kind[256]; /* by enum pov_kind */
	uint64_t open_calls, nested_calls;
	uint64_t polls; /* inside spins */
	uint64_t preempted;
	uint64_t lost[POV_CLASS_CNT]; /* from LOST records */
};

/* Reads all records. 0 or -errno (printed). */
int trace_totals_count(struct trace *t, struct trace_totals *out);

/*
 * [{ring, class (name), cnt}] from the end object; without one, from the LOST records (ring -1).
 * The caller owns it.
 */
json_t *trace_drops(const struct trace *t, const struct trace_totals *s);

/* When the recording began and ended, from the meta objects or else from the records. */
void trace_times(const struct trace *t, uint64_t *start_ns, uint64_t *end_ns);
/* The relation of the system's clocks at the begin and at the end of the recording. */
struct trace_clocks {
	struct trace_clock {
		uint64_t monotonic_ns, boottime_ns, realtime_ns, raw_ns;
	} begin, end;
	bool has_end; /* only in recordings that ended normally; else end equals begin */
	/*
	 * From begin to end, against CLOCK_MONOTONIC: change of realtime by setting or drift, time
	 * that the machine was suspended, and slew of CLOCK_MONOTONIC itself.
	 */
	int64_t realtime_moved_ns, suspended_ns, slewed_ns;
};

/* 0, or -ENOENT if the trace has no clock snapshot: then everything is 0. */
int trace_clocks(const struct trace *t, struct trace_clocks *out);
/* CLOCK_REALTIME at a moment of the trace, ns; 0 if the trace has no clock snapshot. */
int64_t trace_realtime(const struct trace *t, uint64_t ts_ns);

/* Texts for a trace that is the newest part of a longer recording (record --last). */

struct trace;

/*
 * When the recording began, and how much of it was stored. NULL: the trace is a whole recording.
 * The caller frees the text, here and below.
 */
char *trace_kept_text(const struct trace *t);
/* The call that triggered the file, and how many calls did. NULL: no trigger was set. */
char *trace_trigger_text(const struct trace *t);

#endif
