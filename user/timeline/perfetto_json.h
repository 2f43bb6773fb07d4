/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by the two files that make JSON: perfetto_json.c (events) and perfetto_json_ftrace.c (scheduler).
 */
#ifndef POV_TIMELINE_PERFETTO_JSON_H
#define POV_TIMELINE_PERFETTO_JSON_H

#include <string.h>

#include "timeline/out.h"
#include "timeline/timeline.h"

#define JSON_IDLE_CPUS 1024

struct json_writer {
	struct out *out;
	uint64_t base_ns; /* time 0 of the file */
	uint32_t njobs;
	bool second;				 /* an event has been written: a comma is due */
	uint64_t idle_told[JSON_IDLE_CPUS / 64]; /* CPUs whose idle thread has been named */
	struct writer_totals *totals;
};

extern const struct timeline_ops json_ftrace_ops; /* ctx: struct json_writer */

/* Appends text at p, where there is room, and returns the end. */
static inline char *json_put(char *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p, text, n);
	return p + n;
}

static inline uint64_t json_time(const struct json_writer *w, uint64_t ns)
{
	return ns > w->base_ns ? ns - w->base_ns : 0;
}

#endif
