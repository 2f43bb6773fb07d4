/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How short a call may be to be drawn by itself, so that the timeline of a large recording can be looked at.
 */
#ifndef POV_TIMELINE_RESOLUTION_H
#define POV_TIMELINE_RESOLUTION_H

#include <stdint.h>

struct model;
struct writer_select;

/*
 * The resolution in ns that is asked for, or, if none is, the shortest of 1, 2, 3, 5, 10 us … 10 ms with which what is selected takes about
 * ten times the recording's bytes in Perfetto's format; 0, to draw each call, where these are few. Reads a large recording once. 0 or -errno (printed).
 */
int resolution_choose(struct model *m, const struct writer_select *sel, uint64_t recording_bytes,
		      uint64_t *resolution_ns);

#endif
