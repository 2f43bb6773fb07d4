/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The recordings that a command reads together, and their clock offsets (--offset). */
#ifndef POV_CMD_SOURCES_H
#define POV_CMD_SOURCES_H

#include "lib/option.h"
#include "trace/trace_join.h"

#define SOURCES_OFFSET_ARG "FILE=NS"
#define SOURCES_OFFSET_HELP                                                                    \
	"With several recordings: relate FILE's clock to the first one's by the time of day, " \
	"plus NS nanoseconds (may be negative). Messages then do not correct this clock, so "  \
	"FILE=0 keeps the time of day. May be given several times."

#define SOURCES_ONE_RUN_HELP                                                                \
	"With several recordings: read them as one run, even if two of them come from one " \
	"host at different times or from different jobs."

/*
 * Returns cnt sources, which the caller frees. NULL (printed) if two paths are the same file, or an
 * offset is not FILE=NS with one of the paths.
 */
struct trace_source *sources_parse(char *const *path, int cnt, const struct option_list *offsets,
				   bool one_run);

#endif
