/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The recordings that a command is to read together: its arguments, and what --offset says of them. */
#ifndef POV_CMD_SOURCES_H
#define POV_CMD_SOURCES_H

#include "lib/option.h"
#include "trace/trace_join.h"

#define SOURCES_OFFSET_ARG "FILE=NS"
#define SOURCES_OFFSET_HELP                                                                             \
	"With several recordings: add NS nanoseconds (or less than 0) to the times of FILE, as the "    \
	"time of day relates its host's clock to the first one's; messages do not correct it then (so " \
	"FILE=0 keeps the time of day). May be given several times."

#define SOURCES_ONE_RUN_HELP                                                                             \
	"With several recordings: read them as one run, also if two of one host were made at different " \
	"times or are of different jobs."

/* cnt of them, to be freed; NULL (printed) if a file is there twice, or an offset is no "FILE=NS" of one of them. */
struct trace_source *sources_parse(char *const *path, int cnt, const struct option_list *offsets,
				   bool one_run);

#endif
